/** Word error rates: how many words of a text were heard wrong, were left out, or were added, and how sure a rate over several texts is. */

export interface WordErrors {
  nErrors: number;
  /** Words of the right text. */
  nWords: number;
}

const LETTER = String.raw`[\p{L}\p{M}\p{N}]`;
/** Scripts without spaces are counted by their letters, as the rate of them is usually given. */
const UNSPACED = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]`;
const WORD = new RegExp(`${UNSPACED}|(?:(?!${UNSPACED})${LETTER})+(?:['’](?:(?!${UNSPACED})${LETTER})+)*`, 'gu');
/** Of a normal distribution, so many standard deviations to either side hold 95 %. */
const SURE = 1.96;

export function wordErrors(right: string, heard: string): WordErrors {
  const [expected, found] = [wordsOf(right), wordsOf(heard)];
  return { nErrors: distance(expected, found), nWords: expected.length };
}

/** Neither case nor punctuation counts. */
function wordsOf(text: string): string[] {
  return (text.normalize('NFKC').toLowerCase().match(WORD) ?? []).map((word) => word.replaceAll('’', "'"));
}

/** Levenshtein's, with one row of the table. */
function distance(expected: readonly string[], found: readonly string[]): number {
  const row = Uint32Array.from({ length: found.length + 1 }, (_, i) => i);
  for (const [i, word] of expected.entries()) {
    let diagonal = i;
    row[0] = i + 1;
    for (const [j, other] of found.entries()) {
      const above = row[j + 1] ?? 0;
      const changed = diagonal + (word === other ? 0 : 1);
      row[j + 1] = Math.min(changed, above + 1, (row[j] ?? 0) + 1);
      diagonal = above;
    }
  }
  return row[found.length] ?? 0;
}

/**
 * The rate over all texts, and the interval that holds it with 95 % if further texts are like these: a ratio estimate, whose variance is that of the
 * texts' own errors around the rate. Null where there is nothing to count, or one text alone.
 */
export function errorRate(all: readonly WordErrors[]): { rate: number | null; interval: [low: number, high: number] | null } {
  const nWords = all.reduce((sum, each) => sum + each.nWords, 0);
  if (nWords === 0) return { rate: null, interval: null };
  const rate = all.reduce((sum, each) => sum + each.nErrors, 0) / nWords;
  if (all.length < 2) return { rate, interval: null };
  const squares = all.reduce((sum, each) => sum + (each.nErrors - rate * each.nWords) ** 2, 0);
  const deviation = Math.sqrt((all.length / (all.length - 1)) * squares) / nWords;
  return { rate, interval: [Math.max(0, rate - SURE * deviation), rate + SURE * deviation] };
}
