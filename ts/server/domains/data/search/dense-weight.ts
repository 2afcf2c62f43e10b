/** How much vectors count beside terms. */
import { termsOf } from '../terms/terms.ts';

export type SearchMode = 'hybrid' | 'lexical' | 'dense';

/** Chosen on one half of the evaluation's questions, reported on the other. */
const HYBRID_WEIGHT = 0.25;
/** Tokens of one word, above which the model begins to spell it, and at which it knows nothing of it. */
const KNOWN_TOKENS = 2.2;
const SPELT_TOKENS = 3.2;

/** A model that cuts a question into letters does not know its language, and its vectors would only blur what the terms say. */
export function denseWeightOf(mode: SearchMode, question: string, nTokens: number | undefined): number {
  if (mode === 'lexical') return 0;
  if (mode === 'dense') return 1;
  if (nTokens === undefined) return HYBRID_WEIGHT;
  const nWords = Math.max(1, [...termsOf(question)].filter(({ kind }) => kind === 'stem').length);
  const share = (SPELT_TOKENS - nTokens / nWords) / (SPELT_TOKENS - KNOWN_TOKENS);
  return HYBRID_WEIGHT * Math.max(0, Math.min(1, share));
}
