import fc from 'fast-check';
import t from 'tap';
import { backoffMs } from './backoff.ts';

const range = { first: 1_000, longest: 60_000 };

t.test('the wait doubles with each failure up to the longest', async (t) => {
  const waits = [1, 2, 3, 6, 7, 8, 1_000_000].map((failures) => backoffMs(failures, range, 1));
  t.strictSame(waits, [1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000]);
});

t.test('between half of it and all of it is waited', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
      const whole = backoffMs(failures, range, 1);
      const wait = backoffMs(failures, range, random);
      return Number.isInteger(wait) && wait >= whole / 2 && wait <= whole;
    }),
  );
});
