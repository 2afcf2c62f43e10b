/** Some routes with the largest requests that their schemas admit; `npm run hostile` tries all of them, with larger ones, and judges the waits. */
import t from 'tap';
import { iterations } from '../test-support/iterations.ts';
import { openHostileServer } from './hostile-server.ts';
import { largestValue } from './largest-values.ts';
import { routeFindings } from './route-findings.ts';

t.test('the largest value is as long as its schema says', async (t) => {
  t.equal(largestValue({ type: 'string', maxLength: 7 }, '漢', 1_000), '漢'.repeat(7));
  t.equal(largestValue({ type: 'string' }, '\\', 10), '\\'.repeat(5), 'each takes two bytes in JSON');
  t.equal(largestValue({ type: ['string', 'null'], maxLength: 4, pattern: '^[0-9]+$' }, '漢', 1_000), '0000');
  t.strictSame(largestValue({ type: 'array', maxItems: 2, items: { type: 'integer', maximum: 5 } }, 'a', 1_000), [5, 5]);
});

t.test('no large request hurts another tenant for long, or is answered with a fault', { timeout: 300_000 }, async (t) => {
  const hostile = await openHostileServer(t.testdir());
  t.teardown(() => hostile.stop());
  // The whole run judges the waits more strictly: tests run beside others.
  const options = { mostBytes: 256 * 1024, nCharacters: 1, stride: iterations(24, 12), nWaits: 1, mostWaitMs: 5_000 };
  for await (const { name, faults } of routeFindings(hostile, options)) t.strictSame(faults, [], name);
});
