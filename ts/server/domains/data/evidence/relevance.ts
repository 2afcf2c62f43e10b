/** Whether what was found answers a question: a statement about its content words and the passages, whatever the size of the knowledge base. */
import type { AskedQuestion } from './asked-question.ts';
import type { ReadPassage } from './read-passages.ts';

/** `perhaps`: the nearest passages may be shown, but nothing says that they are about it. */
export type Relevance = 'found' | 'perhaps' | 'nothing';

/** Beside a passage that is above it, less sure ones may help. */
const LEAST_BESIDE = 0.12;

/** What of the value each share of words has, and the lead of the best passage before the next one. */
const SHARE_OF_WORDS = 0.4;
const SHARE_OF_LEAD = 0.3;
/** Of a base in which one passage alone was found. */
const LONE_LEAD = 0.3;

/** Chosen on XQuAD in four languages by `npm run eval:first-answers`: at most 1 % of what passages answer lies below `perhaps`, and a tenth of the rest above `found`. */
const LEAST = { words: { perhaps: 0.24, found: 0.48 }, runs: { perhaps: 0.15, found: 0.35 } } as const;

/** Where no passage is above it, since all of them have the words of the question, all stay. */
export function withoutUnrelated<T extends ReadPassage>(passages: readonly T[]): readonly T[] {
  const related = passages.filter(({ result }) => result.relevance >= LEAST_BESIDE);
  return related.length === 0 ? passages : related;
}

/**
 * Goes by two shares of the best passage: how much of the question's words it has, by what they count in their language, and the search's own
 * relevance, which goes by how rare they are in the base. A word of all passages weighs nothing in the one alone. A passage that is found far before
 * the others answers more often than one of many that are alike.
 *
 * @param passages as the search gave them, of one or several bases.
 */
export function relevanceOf(question: AskedQuestion, passages: readonly ReadPassage[]): Relevance {
  const bases = Map.groupBy(passages, ({ result }) => result.namespace);
  const value = Math.max(0, ...[...bases.values()].map(certaintyOf));
  const least = question.words.some(({ isRun }) => isRun) ? LEAST.runs : LEAST.words;
  if (value >= least.found) return 'found';
  return value >= least.perhaps ? 'perhaps' : 'nothing';
}

function certaintyOf(passages: readonly ReadPassage[]): number {
  const coverage = Math.max(...passages.map((passage) => passage.coverage));
  const relevance = Math.max(...passages.map(({ result }) => result.relevance));
  const [best = 1, next] = passages.map(({ result }) => result.score).sort((a, b) => b - a);
  const lead = next === undefined || best <= 0 ? LONE_LEAD : 1 - next / best;
  // A lead alone says nothing where no word is shared.
  return SHARE_OF_WORDS * (coverage + relevance) + (coverage === 0 ? 0 : SHARE_OF_LEAD * lead);
}
