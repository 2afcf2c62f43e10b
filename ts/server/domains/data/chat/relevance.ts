/** Whether what was found is about the question at all. */

/** Chosen on one half of the evaluation's questions: below it, nine of ten questions that no passage answers are refused. */
export const LEAST_RELEVANCE = 0.39;
/** Beside a passage that is above it, less sure ones may help. */
const LEAST_BESIDE = 0.12;

/** Empty when the best is not relevant. */
export function relevantOf<T extends { readonly relevance: number }>(results: readonly T[]): T[] {
  if (!results.some(({ relevance }) => relevance >= LEAST_RELEVANCE)) return [];
  return results.filter(({ relevance }) => relevance >= LEAST_BESIDE);
}
