import fc from 'fast-check';
import t from 'tap';
import { errorRate, wordErrors } from './word-errors.ts';

t.test('words that are wrong, missing or too many count, case and punctuation do not', async (t) => {
  const cases: [string, string, number, number][] = [
    ['And so, my fellow Americans:', 'and so my fellow americans', 0, 5],
    ['one two three', 'one too three', 1, 3],
    ['one two three', 'one three', 1, 3],
    ['one two three', 'well one two two three', 2, 3],
    ['one two', '', 2, 2],
    ['', 'one two', 2, 0],
    ["don't stop", 'don’t stop', 0, 2],
    ['Grüße', 'GRU\u0308ßE', 0, 1],
    ['東京 です', '東京です', 0, 4],
    ['東京', '東', 1, 2],
  ];
  for (const [right, heard, nErrors, nWords] of cases) t.strictSame(wordErrors(right, heard), { nErrors, nWords }, right);
});

t.test('the distance is a distance', async () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, text, (a, b, c) => {
      const d = (x: string[], y: string[]) => wordErrors(x.join(' '), y.join(' ')).nErrors;
      return d(a, a) === 0 && d(a, b) === d(b, a) && d(a, c) <= d(a, b) + d(b, c) && d(a, b) >= Math.abs(a.length - b.length);
    }),
  );
});

t.test('a rate counts words, not files, and its interval holds the rate that texts were made with', async (t) => {
  t.match(
    errorRate([
      { nErrors: 1, nWords: 1 },
      { nErrors: 0, nWords: 99 },
    ]),
    { rate: 0.01 },
  );
  t.strictSame(errorRate([]), { rate: null, interval: null });
  t.strictSame(errorRate([{ nErrors: 1, nWords: 4 }]), { rate: 0.25, interval: null });
  t.strictSame(
    errorRate([
      { nErrors: 2, nWords: 8 },
      { nErrors: 1, nWords: 4 },
    ]),
    { rate: 0.25, interval: [0.25, 0.25] },
  );
  // 400 times 30 texts of 20 words, each word wrong with 10 %: about 95 % of the intervals hold that.
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 48_271) >>> 0) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  let nHeld = 0;
  for (let i = 0; i < 400; i++) {
    const texts = Array.from({ length: 30 }, () => ({
      nErrors: Array.from({ length: 20 }, next).filter((each) => each < 0.1).length,
      nWords: 20,
    }));
    const [low, high] = errorRate(texts).interval ?? [1, 0];
    if (low <= 0.1 && 0.1 <= high) nHeld++;
  }
  t.ok(nHeld > 360 && nHeld < 400, `${nHeld} of 400`);
});
