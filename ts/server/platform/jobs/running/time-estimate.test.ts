import t from 'tap';
import { TimeEstimate } from './job-run.ts';

t.test('the end is estimated from what was done since the first report', async (t) => {
  const estimate = new TimeEstimate();
  t.equal(estimate.add({ done: 100, total: 200 }, 1_000).endsAt, undefined, 'one report says nothing');
  t.equal(estimate.add({ done: 110, total: 200 }, 1_100).endsAt, undefined, 'nor does a tenth of a second');
  t.equal(estimate.add({ done: 120, total: 200 }, 3_000).endsAt, 3_000 + 8_000);
  t.equal(estimate.add({ done: 300, total: 200 }, 4_000).endsAt, 4_000, 'more than all is done at once');
});

t.test('without a total or after going back there is no estimate', async (t) => {
  const estimate = new TimeEstimate();
  estimate.add({ done: 5 }, 0);
  t.equal(estimate.add({ done: 50 }, 9_000).endsAt, undefined);
  t.equal(estimate.add({ done: 1, total: 50 }, 10_000).endsAt, undefined, 'a second phase begins anew');
  t.equal(estimate.add({ done: 2, total: 50 }, 11_000).endsAt, 11_000 + 48_000);
});
