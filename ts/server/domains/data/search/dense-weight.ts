/** How much vectors count beside terms. */
import { termsOf } from '../terms/terms.ts';

export type SearchMode = 'hybrid' | 'lexical' | 'dense';

/** Chosen on one half of the evaluation's questions, reported on the other. */
const HYBRID_WEIGHT = 0.25;
/** Tokens of one word, above which the model begins to spell it, and at which it knows nothing of it. */
const KNOWN_TOKENS = 2.2;
const SPELT_TOKENS = 3.2;

/** How terms and vectors become one ranking. */
export interface Fusion {
  readonly denseWeight: number;
  readonly isByRanks: boolean;
}

/** Of a service that does not say how it cuts texts nothing is known, so ranks count in the place of a weight that was tuned for others. */
export function fusionOf(mode: SearchMode, question: string, nTokens: number | undefined): Fusion {
  return { denseWeight: denseWeightOf(mode, question, nTokens), isByRanks: mode === 'hybrid' && nTokens === undefined };
}

/** A model that cuts a question into letters does not know its language, and its vectors would only blur what the terms say. */
function denseWeightOf(mode: SearchMode, question: string, nTokens: number | undefined): number {
  if (mode === 'lexical') return 0;
  if (mode === 'dense') return 1;
  if (nTokens === undefined) return HYBRID_WEIGHT;
  const nWords = Math.max(1, [...termsOf(question)].filter(({ kind }) => kind === 'stem').length);
  const share = (SPELT_TOKENS - nTokens / nWords) / (SPELT_TOKENS - KNOWN_TOKENS);
  return HYBRID_WEIGHT * Math.max(0, Math.min(1, share));
}
