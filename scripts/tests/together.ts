/** node scripts/tests/together.ts FILE...: runs pure test files in this process, one after the other, and tells where each ends. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { endOfFile } from './tap-output.ts';
import { pathOf } from './test-files.ts';

// Tap names the folders of tests by the arguments once it is loaded: one is enough, and no two processes have the same.
const files = process.argv.splice(2);
process.argv[1] = resolve(pathOf(files[0] ?? ''));
const { t } = await import('tap');
for (const file of files) {
  const began = { ms: performance.now(), cpu: process.cpuUsage(), counts: { ...t.counts } };
  try {
    await import(pathToFileURL(resolve(pathOf(file))).href);
  } catch (error) {
    t.fail(`${file} could not be loaded`, { error });
  }
  // Its tests are in front of this one.
  await t.test('', { silent: true }, async () => undefined);
  const { user, system } = process.cpuUsage(began.cpu);
  const { pass, fail, skip } = t.counts;
  const { counts } = began;
  const totals = { pass: pass - counts.pass, fail: fail - counts.fail, skip: skip - counts.skip };
  t.comment(endOfFile(file, totals, { wallSeconds: (performance.now() - began.ms) / 1e3, cpuSeconds: (user + system) / 1e6 }));
}
