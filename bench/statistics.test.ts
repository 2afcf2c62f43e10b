import fc from 'fast-check';
import t from 'tap';
import { median, quantile, spread } from './statistics.ts';

t.test('the median of an even count lies between the middle two', async (t) => {
  t.equal(median([4, 1, 3, 2]), 2.5);
});

t.test('a quantile lies within the spread and grows with the fraction', async () => {
  const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 });
  const fraction = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(values, fraction, fraction, (list, a, b) => {
      const { low, high } = spread(list);
      const [smaller, larger] = [quantile(list, Math.min(a, b)), quantile(list, Math.max(a, b))];
      return smaller >= low - 1e-6 && larger <= high + 1e-6 && smaller <= larger + 1e-6;
    }),
  );
});

t.test('no values have no median', async (t) => {
  t.throws(() => median([]), /at least one value/);
});
