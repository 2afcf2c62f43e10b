/** Results of a search with one score each that orders them and that can be compared with a threshold. */
import type { PassageResult } from '../knowledge-base.ts';

/** A result is as sure as it is itself, and no less than those behind it: the ranking knows more than the relevance of one passage. */
export function sureResults(results: readonly PassageResult[], leastScore: number): PassageResult[] {
  let surest = 0;
  return results
    .toReversed()
    .map((result) => {
      surest = Math.max(surest, result.relevance);
      return { ...result, score: surest };
    })
    .reverse()
    .filter(({ score }) => score >= leastScore);
}
