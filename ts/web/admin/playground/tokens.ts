/** An answer with its log probabilities, token by token. */
interface Alternative {
  text: string;
  /** 0 to 1. */
  probability: number;
}

export interface Token extends Alternative {
  /** The likeliest first; the chosen one may be among them. */
  alternatives: Alternative[];
}

interface WireToken {
  token: string;
  logprob: number;
}

interface WireChoice {
  message?: { content?: string | null };
  finish_reason?: string | null;
  logprobs?: { content?: (WireToken & { top_logprobs?: WireToken[] })[] | null } | null;
}

export function tokensOf(choice: WireChoice | undefined): Token[] {
  return (choice?.logprobs?.content ?? []).map((token) => ({
    ...alternativeOf(token),
    alternatives: (token.top_logprobs ?? []).map(alternativeOf),
  }));
}

function alternativeOf({ token, logprob }: WireToken): Alternative {
  return { text: token, probability: Math.min(1, Math.exp(logprob)) };
}

/** A class of the style: from certain to a surprise. The number stands in the table as well, since colours alone say nothing to some. */
export function certainty(probability: number): 'certain' | 'likely' | 'open' | 'surprising' {
  if (probability >= 0.9) return 'certain';
  if (probability >= 0.5) return 'likely';
  return probability >= 0.1 ? 'open' : 'surprising';
}
