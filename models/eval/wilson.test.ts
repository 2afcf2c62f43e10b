import t from 'tap';
import { wilsonInterval } from './wilson.ts';

t.test('the interval of 90 out of 100', async (t) => {
  const { low, high } = wilsonInterval(90, 100);
  t.equal(low.toFixed(3), '0.826');
  t.equal(high.toFixed(3), '0.945');
});

t.test('all or none right leaves room for doubt on one side', async (t) => {
  t.ok(wilsonInterval(50, 50).high > 0.999);
  t.ok(wilsonInterval(50, 50).low < 0.95);
  t.ok(wilsonInterval(0, 50).low < 1e-9);
});

t.test('nothing measured says nothing', async (t) => t.strictSame(wilsonInterval(0, 0), { low: 0, high: 1 }));
