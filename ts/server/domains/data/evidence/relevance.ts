/** Whether what was found answers a question: a statement about its content words and the passages, whatever the size of the knowledge base. */
import type { PassageResult } from '../search/passage-result.ts';
import type { AskedQuestion } from './asked-question.ts';
import { WordSet } from './word-forms.ts';

/** `perhaps`: the nearest passages may be shown, but nothing says that they are about it. */
export type Relevance = 'found' | 'perhaps' | 'nothing';

/** Chosen on one half of the evaluation's questions: below it, nine of ten questions that no passage answers are refused. */
export const LEAST_RELEVANCE = 0.39;
/** Beside a passage that is above it, less sure ones may help. */
const LEAST_BESIDE = 0.12;
/** A passage that is one long row is looked at by its beginning. */
const MAX_PASSAGE = 10_000;

/** Chosen on XQuAD in four languages by `npm run eval:first-answers`: at most 1 % of what passages answer lies below `perhaps`, and a tenth of the rest above `found`. */
const LEAST = { words: { perhaps: 0.17, found: 0.5 }, runs: { perhaps: 0.12, found: 0.36 } } as const;

/** For the search route: empty when the best is not relevant by the rarity of its words in the base. */
export function relevantOf<T extends { readonly relevance: number }>(results: readonly T[]): T[] {
  if (!results.some(({ relevance }) => relevance >= LEAST_RELEVANCE)) return [];
  return withoutUnrelated(results);
}

export function withoutUnrelated<T extends { readonly relevance: number }>(results: readonly T[]): T[] {
  return results.filter(({ relevance }) => relevance >= LEAST_BESIDE);
}

/**
 * Goes by the mean of two shares, each of the best passage: how much of the question's words it has, by what they count in their language, and
 * the search's own relevance, which goes by how rare they are in the base. A word of all passages weighs nothing in the one alone.
 */
export function relevanceOf(question: AskedQuestion, results: readonly PassageResult[]): Relevance {
  if (results.length === 0) return 'nothing';
  const coverage = Math.max(...results.map((result) => coverageOf(question, result)));
  const value = (coverage + Math.max(...results.map(({ relevance }) => relevance))) / 2;
  const least = question.words.some(({ isRun }) => isRun) ? LEAST.runs : LEAST.words;
  if (value >= least.found) return 'found';
  return value >= least.perhaps ? 'perhaps' : 'nothing';
}

function coverageOf({ words }: AskedQuestion, { source, title = '', heading = '', text }: PassageResult): number {
  const passage = new WordSet([source, title, heading, text.slice(0, MAX_PASSAGE)].join('\n'));
  const whole = words.reduce((sum, { weight }) => sum + weight, 0);
  return whole === 0 ? 0 : words.reduce((sum, word) => sum + word.weight * passage.match(word), 0) / whole;
}
