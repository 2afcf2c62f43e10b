import fc from 'fast-check';
import t from 'tap';
import { cpuMsOf } from '../../../../../test/test-support/cpu-time.ts';
import { fold, wordsOf } from '../../../platform/text/words.ts';
import { snippetOf } from './hit-collector.ts';
import { SearchQuery } from './search-query.ts';
import { listTerms } from './terms.ts';

const numRuns = process.env['SVC_TEST_LONG'] ? 20_000 : 1_000;
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.lorem(),
  fc.string({ unit: fc.constantFrom(..." abcß京都東カガタｶไทยİıſςΣ한'½ﷺ-", '\uff9e', '\u0301', '\u3099', '\u200d') }),
);

/** As the index answers: every term is there, as such or as a beginning. */
function isIndexed(text: string, query: SearchQuery): boolean {
  const terms = listTerms(text);
  return query.terms.every((wanted) =>
    terms.some((term) => (wanted.isPrefix ? term.startsWith(wanted.text) : term === wanted.text)),
  );
}

t.test('text is found by each of its words, and by the beginning of each', async () => {
  fc.assert(
    fc.property(anyText, fc.nat(), (text, seed) => {
      for (const { start, end, isRun } of wordsOf(text)) {
        const whole = text.slice(start, end);
        const characters = [...new Intl.Segmenter().segment(whole)].map(({ segment }) => segment);
        const cut = characters.slice(0, 1 + (seed % characters.length)).join('');
        for (const wanted of isRun ? [whole] : [whole, cut]) {
          const query = new SearchQuery(wanted);
          if (query.terms.length === 0) continue;
          if (!isIndexed(text, query) || query.findIn(text) === undefined) fail(text, wanted);
        }
      }
    }),
    { numRuns },
  );
});

function fail(text: string, wanted: string): never {
  throw new Error(`${JSON.stringify(wanted)} is not found in ${JSON.stringify(text)}`);
}

t.test('what is found has the words, and the index finds whatever has them', async () => {
  fc.assert(
    fc.property(anyText, anyText, (text, wanted) => {
      const query = new SearchQuery(wanted);
      if (query.findIn(text) !== undefined && !isIndexed(text, query)) fail(text, wanted);
    }),
    { numRuns },
  );
});

t.test('folding what was folded changes nothing, and neither case nor accents matter', async (t) => {
  fc.assert(
    fc.property(anyText, (text) => fold(fold(text)) === fold(text)),
    { numRuns },
  );
  const unstable = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    const folded = fold(String.fromCodePoint(code));
    if (fold(folded) !== folded) unstable.push(code.toString(16));
  }
  t.strictSame(unstable, []);
  for (const [a, b] of [
    ['Ångström', 'angstrom'],
    ['STRASSE', 'straße'],
    ['GROẞ', 'gross'],
    ['ΟΔΟΣ', 'οδος'],
    ['İstanbul', 'istanbul'],
    ['ﬁn', 'fin'],
    ['Ёлка', 'елка'],
    ['Sil\u00adbe', 'silbe'],
    ['مُحَمَّد', 'محمد'],
  ] as const)
    t.equal(fold(a), fold(b), a);
});

t.test('a snippet is one line, holds whole characters, and its matches stand where the text says', async () => {
  fc.assert(
    fc.property(anyText, anyText, anyText, (before, word, after) => {
      const text = `${before.repeat(5)} ${word} ${after.repeat(9)}`;
      const ranges = new SearchQuery(word).findIn(text);
      if (ranges === undefined) return;
      const snippet = snippetOf(text, ranges);
      const clean = text.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, ' ');
      const first = snippet.matches[0];
      if (first === undefined) throw new Error('the first match is not in the snippet');
      const shown = snippet.text.slice(first.start, first.end);
      if (!clean.slice(ranges[0]?.start).startsWith(shown) || shown === '') throw new Error(`${shown} is not what was found`);
      if (/[\n\u202e]/.test(snippet.text) || snippet.text.length > 202) throw new Error('the snippet is not safe to show');
    }),
    { numRuns },
  );
});

t.test('long and hostile text is searched in bounded time', async (t) => {
  for (const text of [
    'a'.repeat(1e6),
    '京'.repeat(1e6),
    'é'.repeat(1e6),
    '\u0301'.repeat(1e6),
    'x y '.repeat(250_000),
    'ﷺ'.repeat(1e5),
  ]) {
    const ms = cpuMsOf(() => {
      listTerms(text);
      new SearchQuery('zzz').findIn(text);
    });
    t.ok(ms < 3_000, `${text.slice(0, 5)}: ${Math.round(ms)} ms`);
  }
});
