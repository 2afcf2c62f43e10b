/** What a user typed: all of its words must be there, each as the beginning of a word. */

import { termsOf, type Word, wordsOf } from '../../../platform/text/words.ts';
import { MAX_SEARCHED_LENGTH } from './terms.ts';

/** What the index is asked for: messages with a term that begins so, or that is the same. */
export interface QueryTerm {
  readonly text: string;
  readonly isPrefix: boolean;
}

/** From `start` to before `end`, UTF-16 code units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Words of a query that count; further ones are left out. */
const MAX_WORDS = 16;

export class SearchQuery {
  /** Without a word, empty: nothing is found. */
  readonly terms: readonly QueryTerm[];
  readonly #words: readonly Word[];

  constructor(text: string) {
    this.#words = [...wordsOf(text)].slice(0, MAX_WORDS);
    const terms = new Map(this.#words.flatMap(queryTerms).map((term) => [`${term.isPrefix} ${term.text}`, term]));
    // Longer terms are rarer, and what is rare is looked for first.
    this.terms = [...terms.values()].sort((a, b) => b.text.length - a.text.length);
  }

  /**
   * Where the words stand, in their order in the text; undefined when one is missing. The index knows pairs of characters only, so a run
   * that it found may not be there as a whole.
   */
  findIn(text: string): TextRange[] | undefined {
    const missing = new Set(this.#words);
    const ranges: TextRange[] = [];
    for (const found of wordsOf(text.slice(0, MAX_SEARCHED_LENGTH))) {
      for (const wanted of this.#words) {
        const range = findWord(wanted, found);
        if (range === undefined) continue;
        missing.delete(wanted);
        if (ranges.at(-1)?.start !== range.start) ranges.push(range);
      }
    }
    return missing.size > 0 || this.#words.length === 0 ? undefined : ranges;
  }
}

function queryTerms(word: Word): QueryTerm[] {
  const terms = [...termsOf(word)];
  // The last character of a longer run stands in the pair before it.
  if (word.isRun && terms.length > 1) return terms.slice(0, -1).map((text) => ({ text, isPrefix: false }));
  return terms.map((text) => ({ text, isPrefix: true }));
}

function findWord(wanted: Word, found: Word): TextRange | undefined {
  if (wanted.isRun !== found.isRun) return undefined;
  if (wanted.isRun) return findRun(wanted, found);
  const isThere = wanted.parts.every(({ text }) => found.parts.some((part) => part.text.startsWith(text)));
  return isThere ? { start: found.start, end: found.end } : undefined;
}

function findRun({ parts: wanted }: Word, { parts }: Word): TextRange | undefined {
  for (const [i, first] of parts.entries()) {
    const isThere = wanted.every(({ text }, k) => parts[i + k]?.text === text);
    const last = parts[i + wanted.length - 1];
    if (isThere && last !== undefined) return { start: first.start, end: last.end };
  }
  return undefined;
}
