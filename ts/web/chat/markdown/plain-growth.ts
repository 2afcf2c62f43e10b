/**
 * Most of what a model writes is words, and words behind words change nothing of what stands before them. They need not be read as markdown:
 * they are added to the text that is drawn.
 */

/** Letters, digits, spaces, and what ends sentences and joins words: behind a letter of the same line, no sign that markdown reads. */
const PLAIN = /^[\p{L}\p{N}\p{M}, .!?'"-]+$/u;
const BEHIND_A_WORD = /[\p{L}\p{N},.!?'"-] *$/u;
/** An address, an entity or an escape may go on in what follows. */
const MAY_GO_ON = /[:/@<&\\][^\s:/@<&\\]*$/;

export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/**
 * Whether plain text behind this one leaves its blocks as they are: it ends in a word, its last line has a letter, so that no digits and lines
 * at its start can become the mark of a list or of a heading, and its last paragraph defines no link, whose address is not drawn.
 */
export function growsPlainly(text: string): boolean {
  const lastLine = text.slice(text.lastIndexOf('\n') + 1);
  const lastParagraph = text.slice(text.lastIndexOf('\n\n') + 1);
  return BEHIND_A_WORD.test(text) && !MAY_GO_ON.test(text) && /\p{L}/u.test(lastLine) && !lastParagraph.includes(']:');
}

/** Spaces at the end, which are drawn once a word follows. */
export function spacesBehind(text: string): string {
  return text.slice(text.trimEnd().length);
}
