/** Log probabilities in the shape of the chat API. */
import type { TokenLogprob } from '../../../../native/llama-shapes.ts';

/** JSON has no -Infinity; OpenAI sends this for tokens that cannot occur. */
const impossible = -9999;

interface ChatLogprob {
  token: string;
  logprob: number;
  bytes: number[];
}

export function chatLogprobs(tokens: readonly TokenLogprob[]): (ChatLogprob & { top_logprobs: ChatLogprob[] })[] {
  return tokens.map((token) => ({ ...entry(token), top_logprobs: token.top.map(entry) }));
}

/** The same as JSON. A stream with alternatives writes many of these for each token, so no objects are made. */
export function chatLogprobsJson(tokens: readonly TokenLogprob[]): string {
  let json = '';
  for (const token of tokens) {
    let top = '';
    for (const alternative of token.top) top += `${top === '' ? '' : ','}${members(alternative)}}`;
    json += `${json === '' ? '' : ','}${members(token)},"top_logprobs":[${top}]}`;
  }
  return `[${json}]`;
}

type Entry = Pick<TokenLogprob, 'bytes' | 'logprob'>;

function entry({ bytes, logprob }: Entry): ChatLogprob {
  return { token: bytes.toString(), logprob: shown(logprob), bytes: [...bytes] };
}

/** The JSON before and behind the number of each token. The engine's binding hands out the same buffer for the same token. */
const fragments = new WeakMap<Buffer, readonly [string, string]>();

/** An entry without its closing brace. */
function members({ bytes, logprob }: Entry): string {
  let [before, behind] = fragments.get(bytes) ?? [];
  if (before === undefined || behind === undefined) {
    before = `{"token":${JSON.stringify(bytes.toString())},"logprob":`;
    behind = `,"bytes":[${bytes.join(',')}]`;
    fragments.set(bytes, [before, behind]);
  }
  return before + shown(logprob) + behind;
}

/** The engine's floats are good for seven digits; more would be noise that every client reads. */
function shown(logprob: number): number {
  return Number.isFinite(logprob) ? Math.round(logprob * 1e6) / 1e6 : impossible;
}
