/** The body of an answer of /tokenize, made in pieces: millions of tokens are tens of megabytes of text, beside which streams go on. */

/** Tokens of one piece. */
const nAtOnce = 8_192;

/** @param pieceTexts JSON of the text of each token id, for answers that name it. */
export async function* tokenListChunks(tokens: Int32Array, pieceTexts?: ReadonlyMap<number, string>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('{"tokens":[');
  for (let at = 0; at < tokens.length; at += nAtOnce) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    yield Buffer.from((at > 0 ? ',' : '') + listed(tokens.subarray(at, at + nAtOnce), pieceTexts));
  }
  yield Buffer.from(']}');
}

function listed(tokens: Int32Array, pieceTexts: ReadonlyMap<number, string> | undefined): string {
  if (pieceTexts === undefined) return tokens.join(',');
  return Array.from(tokens, (id) => `{"id":${id},"piece":${pieceTexts.get(id)}}`).join(',');
}
