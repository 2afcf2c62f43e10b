/**
 * Runs the tests of a checkout that is set up; scripts/test.mjs tells with which options. Ends with `N passed, N failed`.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { whyNoArm64 } from '../setup/arm64.mjs';
import { nativeSteps, testProgramStep } from '../setup/native.mjs';
import { cacheFolder, checkout } from '../setup/paths.mjs';
import { runScript } from '../setup/run-script.mjs';
import { sanitizerEnvironment, sanitizers } from '../setup/sanitizers.mjs';
import { defaultPreset } from '../setup/set-up.mjs';
import { runSteps } from '../setup/steps.mjs';
import { Budgets } from './budgets.ts';
import { bundledProgram, bundleStep } from './bundle-step.ts';
import { readChange } from './change.ts';
import { chooseFiles } from './chosen-files.ts';
import { ImportGraph } from './import-graph.ts';
import { ModuleMap } from './module-map.ts';
import { type RunReport, runFiles } from './run-files.ts';
import { recordSecondTries } from './second-tries.ts';
import { listTestFiles, nativeTestFiles } from './test-files.ts';
import { endWithUs } from './test-process.ts';

/** More failures than this are not chance. */
const mostFilesTriedAgain = 4;
const nAtOnce = 2;
const seconds = { short: 120, long: 300, sanitized: 600 };

const { values, positionals } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    asan: { type: 'boolean', default: false },
    tsan: { type: 'boolean', default: false },
    timeout: { type: 'string' },
  },
  allowPositionals: true,
});
const budgets = Budgets.read(checkout);
const allFiles = listTestFiles(checkout);
const graph = new ImportGraph(checkout);

await runScript(async () => {
  endWithUs();
  const timeout = values.timeout === undefined ? undefined : Number(values.timeout);
  if (timeout !== undefined && !(timeout > 0)) throw new Error(`--timeout is "${values.timeout}": give seconds`);
  const isWhole = positionals.length === 0;
  if (values.full && isWhole && !whyNoArm64()) await runSteps(nativeSteps('arm64'));
  const reports: RunReport[] = [];
  if (!values.asan && !values.tsan) reports.push(await runPlain(isWhole ? wholeRun() : positionals, isWhole, timeout));
  const sanitized = isWhole ? nativeTestFiles(allFiles) : positionals;
  if (values.asan || (values.full && isWhole && !values.tsan)) reports.push(...(await runSanitized('asan', sanitized, timeout)));
  if (values.tsan) reports.push(...(await runSanitized('tsan', sanitized, timeout)));
  tellTotals(reports);
});

/** `npm test` leaves some of the dear ones to later runs. */
function wholeRun(): readonly string[] {
  if (values.all || values.full || values.record) return allFiles;
  const known = { budgets, graph, modules: ModuleMap.read(checkout) };
  const { files, why } = chooseFiles(allFiles, readChange(checkout), known);
  console.log(`${files.length} of ${allFiles.length} test files: ${why}`);
  return files;
}

async function runPlain(files: readonly string[], isWhole: boolean, timeout: number | undefined): Promise<RunReport> {
  await runSteps([testProgramStep(defaultPreset()), bundleStep()]);
  const env = { ...process.env, SVC_TEST_PROGRAM: bundledProgram, ...(values.full && { SVC_TEST_LONG: '1' }) };
  const run = isWhole ? runAndTryAgain : runOnce;
  const report = await run(budgets.longestFirst(files), env, timeout ?? (values.full ? seconds.long : seconds.short));
  if (values.record) budgets.with(report.costs, allFiles).write(checkout);
  return report;
}

async function runSanitized(name: 'asan' | 'tsan', files: readonly string[], timeout = seconds.sanitized): Promise<RunReport[]> {
  const { title, runtime, packages } = sanitizers[name];
  const env = sanitizerEnvironment(name, process.env);
  if (!env) {
    console.log(`Run under ${title} skipped: the compiler has no ${runtime} (${packages})`);
    return [];
  }
  await runSteps([...nativeSteps(name), testProgramStep(name)]);
  console.log(`The native tests again, with the addons under ${title}:`);
  return [await runAndTryAgain(budgets.longestFirst(files), env, timeout, `second-tries-${name}`)];
}

function runOnce(files: readonly string[], env: NodeJS.ProcessEnv, timeoutSeconds: number, n = nAtOnce): Promise<RunReport> {
  return runFiles(files, { env, timeoutSeconds, nAtOnce: n, graph, show: (line) => console.log(line) });
}

/**
 * What failed in a whole run is tried once more, with nothing beside it: what fails then is a fault, and what does not is named and kept in
 * a list. A file that is in it twice within ten runs is a fault as well.
 */
async function runAndTryAgain(
  files: readonly string[],
  env: NodeJS.ProcessEnv,
  timeoutSeconds: number,
  list = 'second-tries',
): Promise<RunReport> {
  const first = await runOnce(files, env, timeoutSeconds);
  const { failedFiles } = first;
  const isChance = failedFiles.length <= mostFilesTriedAgain;
  if (failedFiles.length > 0 && isChance) console.log(`Again, with nothing beside it: ${failedFiles.join(', ')}`);
  const again = isChance ? await runOnce(failedFiles, env, timeoutSeconds, 1) : first;
  const unstable = failedFiles.filter((file) => !again.failedFiles.includes(file));
  const often = recordSecondTries(join(cacheFolder(), `${list}.json`), unstable);
  if (unstable.length > 0) console.log(`UNSTABLE, failed once and then passed: ${unstable.join(', ')}`);
  if (often.length > 0) console.log(`FAILED   ${often.join(', ')}: a second try in two of the last ten runs`);
  return { ...first, failed: again.failed + often.length };
}

function tellTotals(reports: readonly RunReport[]): void {
  const total = (name: 'passed' | 'failed' | 'skipped') => reports.reduce((sum, report) => sum + report[name], 0);
  if (total('skipped') > 0) console.log(`${total('skipped')} skipped (each says why above)`);
  console.log(`${total('passed')} passed, ${total('failed')} failed`);
  if (total('failed') > 0) process.exitCode = 1;
}
