import t from 'tap';
import { bootstrapInterval } from './bootstrap.ts';

t.test('the interval of a coin agrees with the normal one', async (t) => {
  const { low, high } = bootstrapInterval(Array.from({ length: 1_000 }, (_, i) => i % 2));
  t.ok(Math.abs(low - 0.469) < 0.004, `low is ${low}`);
  t.ok(Math.abs(high - 0.531) < 0.004, `high is ${high}`);
});

t.test('equal values leave no doubt', async (t) => t.strictSame(bootstrapInterval([0.5, 0.5]), { low: 0.5, high: 0.5 }));
