import fc from 'fast-check';
import t from 'tap';
import { fromHalf, toHalf } from './half.ts';

t.test('every half survives the way through a number', async (t) => {
  const wrong: number[] = [];
  for (let half = 0; half < 65_536; half++) {
    const value = fromHalf(half);
    if (!Number.isNaN(value) && toHalf(value) !== half) wrong.push(half);
  }
  t.strictSame(wrong, []);
});

t.test('a number becomes the nearest half', async () => {
  fc.assert(
    fc.property(fc.float({ min: Math.fround(-65_500), max: Math.fround(65_500), noNaN: true }), (value) => {
      const half = toHalf(value);
      const error = Math.abs(fromHalf(half) - value);
      const neighbours = [half + 1, half - 1].filter((other) => (other & 0x7fff) < 0x7c00 && other >= 0);
      return neighbours.every((other) => Math.abs(fromHalf(other) - value) >= error);
    }),
    { numRuns: 2_000 },
  );
});

t.test('the edges', async (t) => {
  t.equal(toHalf(65_520), 0x7c00, 'overflow is infinite');
  t.equal(toHalf(-Infinity), 0xfc00);
  t.equal(toHalf(2 ** -25), 0, 'half of the smallest number rounds to even, zero');
  t.equal(toHalf(1.5 * 2 ** -24), 2);
  t.ok(Number.isNaN(fromHalf(toHalf(NaN))));
});
