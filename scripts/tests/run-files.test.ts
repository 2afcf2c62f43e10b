import { join, relative } from 'node:path';
import t, { type Test } from 'tap';
import { checkout } from '../setup/paths.mjs';
import { ImportGraph } from './import-graph.ts';
import { runUnits } from './run-files.ts';

const passes = "import t from 'tap'; t.test('fine', async (t) => t.ok(1));";
const sources = {
  'passes.test.mjs': passes,
  'passes-too.test.mjs': passes,
  'fails.test.mjs': "import t from 'tap'; t.test('not fine', async (t) => t.equal(1, 2, 'one is two'));",
  'skips.test.mjs': "import t from 'tap'; t.test('no disk', { skip: 'no disk here' }, () => undefined);",
  'holds.contract.ts':
    "import t from 'tap'; t.test('on one', async (t) => t.equal(process.env['SVC_TEST_DATABASE'], 'sqlite', 'its database'));",
  'dies.test.mjs': "import t from 'tap'; t.test('dies', async () => process.exit(3));",
};

type Name = keyof typeof sources | `${keyof typeof sources & `${string}.contract.ts`} [${'sqlite' | 'postgres'}]`;

async function run(t: Test, units: readonly Name[][]) {
  const folder = relative(checkout, t.testdir(sources));
  const lines: string[] = [];
  const report = await runUnits(
    units.map((unit) => unit.map((name) => join(folder, name))),
    {
      envOf: () => process.env,
      timeoutSeconds: 60,
      nAtOnce: 2,
      graph: new ImportGraph(checkout),
      show: (line) => lines.push(line),
    },
  );
  const names = (files: Iterable<string>) => [...files].map((file) => relative(folder, file)).sort();
  return { ...report, failedFiles: names(report.failedFiles), measured: names(report.costs.keys()), text: lines.join('\n') };
}

t.test('each unit is a process, and what failed is told with its file', async (t) => {
  const report = await run(t, [['passes.test.mjs'], ['fails.test.mjs'], ['skips.test.mjs']]);
  t.match(report, { passed: 1, failed: 1, skipped: 1, failedFiles: ['fails.test.mjs'] });
  t.strictSame(report.measured, ['passes.test.mjs', 'skips.test.mjs'], 'what failed has no cost to go by');
  t.match(report.text, /skipped {2}no disk: no disk here/);
  t.match(report.text, /fails\.test\.mjs:\n\s+not ok 1 - one is two/);
});

t.test('files that share a process have each their own result', async (t) => {
  const report = await run(t, [['passes.test.mjs', 'fails.test.mjs', 'passes-too.test.mjs']]);
  t.match(report, { passed: 2, failed: 1, failedFiles: ['fails.test.mjs'] });
  t.strictSame(report.measured, ['passes-too.test.mjs', 'passes.test.mjs']);
});

t.test('a file that ends the process has failed, and those behind it run by themselves', async (t) => {
  const report = await run(t, [['passes.test.mjs', 'dies.test.mjs', 'passes-too.test.mjs']]);
  t.match(report, { passed: 2, failedFiles: ['dies.test.mjs'] });
  t.ok(report.failed >= 1);
  t.ok(report.measured.includes('passes-too.test.mjs'));
});

for (const [how, beside] of [
  ['alone', []],
  ['beside others', ['passes.test.mjs']],
] as const)
  t.test(`a contract runs on the database of its name, ${how}`, async (t) => {
    const report = await run(t, [['holds.contract.ts [sqlite]', ...beside], ['holds.contract.ts [postgres]']]);
    t.match(report, { failed: 1, failedFiles: ['holds.contract.ts [postgres]'] });
    t.strictSame(report.measured, ['holds.contract.ts [sqlite]', ...beside]);
    t.match(report.text, /^ok {7}\S+holds\.contract\.ts \[sqlite\] \(/m);
  });
