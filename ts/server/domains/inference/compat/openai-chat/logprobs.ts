/** Log probabilities in the shape of the chat API. */
import type { TokenLogprob } from '../../../../native/llama.ts';

/** JSON has no -Infinity; OpenAI sends this for tokens that cannot occur. */
const impossible = -9999;

export interface ChatLogprob {
  token: string;
  logprob: number;
  bytes: number[];
}

export function chatLogprobs(tokens: readonly TokenLogprob[]): (ChatLogprob & { top_logprobs: ChatLogprob[] })[] {
  return tokens.map((token) => ({ ...entry(token), top_logprobs: token.top.map(entry) }));
}

function entry({ bytes, logprob }: { bytes: Buffer; logprob: number }): ChatLogprob {
  return { token: bytes.toString(), logprob: Number.isFinite(logprob) ? logprob : impossible, bytes: [...bytes] };
}
