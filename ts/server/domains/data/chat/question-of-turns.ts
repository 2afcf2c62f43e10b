/** What a chat asks its knowledge bases: the last turn, with the one before where it is too short to be asked alone. */
import { MAX_QUESTION, termsOf } from '../../retrieval/index.ts';

/** A shorter question (`And in 2020?`) is about what was said before. */
const LEAST_WORDS = 4;

export function questionOf(turns: readonly string[]): string {
  const [before = '', last = ''] = turns.length > 1 ? turns.slice(-2).map(cut) : ['', cut(turns[0] ?? '')];
  const nWords = [...termsOf(last)].filter(({ kind }) => kind === 'stem').length;
  return cut(nWords < LEAST_WORDS ? `${before} ${last}` : last).trim();
}

function cut(turn: string): string {
  return turn.slice(0, MAX_QUESTION).toWellFormed();
}
