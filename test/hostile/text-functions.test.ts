/** Every text function of the server on its worst texts: 64 KiB of them, with `SVC_TEST_LONG=1` 256 KiB, in `npm run hostile` 1 MiB. */
import t from 'tap';
import { findGrowth } from './growth.ts';
import { textFindings } from './text-findings.ts';

const length = process.env['SVC_TEST_LONG'] ? 256 * 1024 : 64 * 1024;

t.test('no function takes a time that grows faster than its text', { timeout: 300_000 }, async (t) => {
  for await (const { name, faults } of textFindings(length)) t.strictSame(faults, [], name);
});

t.test('a time that grows with the square of the text is found, and one that grows with the text is not', async (t) => {
  t.match(await findGrowth(async (n) => (n / 1024) ** 2 / 4, 1024 * 1024, 60_000), / ms for \d+ characters, .* for half of them/);
  t.equal(await findGrowth(async (n) => n / 100, 1024 * 1024, 60_000), undefined);
  t.match(await findGrowth(async (n) => n / 100, 1024 * 1024, 1_000), / for 262144 characters/);
});
