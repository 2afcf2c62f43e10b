/** What a search found, each passage read once: relevance, the order of sentences and the choice of passages go by the same words. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PassageResult } from '../knowledge-base.ts';
import type { AskedQuestion } from './asked-question.ts';
import { WordSet } from './word-forms.ts';

export interface ReadPassage {
  readonly result: PassageResult;
  /** Share of the question's content words that it has with its document's name and headings, 0 to 1; 0 where it was not read. */
  readonly coverage: number;
}

/** A passage that is one long row is looked at by its beginning. UTF-16 code units. */
export const MAX_PASSAGE = 10_000;
/** Of many bases, those that come first of each. */
const MOST_READ = 24;
const MOST_CHARACTERS = 80_000;
/** Others are served in between. */
const SLICE_MS = 8;

/** @param results best first; of several bases, the best of each before the next ones. */
export async function readPassages(question: AskedQuestion, results: readonly PassageResult[]): Promise<ReadPassage[]> {
  const read: ReadPassage[] = [];
  let nLeft = MOST_CHARACTERS;
  let sliceBegan = performance.now();
  for (const [i, result] of results.entries()) {
    const length = i < MOST_READ ? Math.min(MAX_PASSAGE, result.text.length, nLeft) : 0;
    nLeft -= length;
    read.push(length === 0 ? { result, coverage: 0 } : readPassage(question, result, length));
    if (performance.now() - sliceBegan < SLICE_MS) continue;
    await nextTurn();
    sliceBegan = performance.now();
  }
  return read;
}

export function readPassage({ words }: AskedQuestion, result: PassageResult, length = MAX_PASSAGE): ReadPassage {
  const { source, title = '', heading = '', text } = result;
  return { result, coverage: new WordSet([source, title, heading, text.slice(0, length)].join('\n')).coverage(words) };
}

/** By the search, in which function words count as well, and by the content words alone; each beside the best. 1 for what is best in both. */
export function meritsOf(passages: readonly ReadPassage[]): number[] {
  const bestScore = Math.max(...passages.map(({ result }) => result.score), Number.MIN_VALUE);
  const bestCoverage = Math.max(...passages.map(({ coverage }) => coverage), Number.MIN_VALUE);
  return passages.map(({ result, coverage }) => (result.score / bestScore + coverage / bestCoverage) / 2);
}
