import t from 'tap';
import { readTapTotals } from './tap-totals.mjs';

t.test('the totals are those of the last line of its kind', async (t) => {
  const tap = '    # { total: 1, pass: 1 }\nok 1 - a.test.ts\n# { total: 9, pass: 5, fail: 3, skip: 1 }\n# time=3ms\n';
  t.same(readTapTotals(tap), { passed: 5, failed: 3, skipped: 1 });
});

t.test('output that broke off counts as a failure', async (t) => {
  t.same(readTapTotals('TAP version 14\nok 1 - a.test.ts\n'), { passed: 0, failed: 1, skipped: 0 });
});
