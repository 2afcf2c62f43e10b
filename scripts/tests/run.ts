/**
 * Runs the tests of a checkout that is set up; scripts/test.mjs tells with which options. Ends with `N passed, N failed`.
 */
import { randomInt } from 'node:crypto';
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
import { isPure } from './pure-files.ts';
import { ReachWatch } from './reach-watch.ts';
import { type RunOptions, type RunReport, runUnits } from './run-files.ts';
import { recordSecondTries } from './second-tries.ts';
import { databaseOf, listTestFiles, namesOf, nativeTestFiles } from './test-files.ts';
import { endWithUs } from './test-process.ts';
import { planUnits } from './units.ts';

/** More failures than this are not chance. */
const mostFilesTriedAgain = 4;
const nAtOnce = 2;
/** In how many commits each file has had its long counts, and each map of a file has been compared with what it reaches. */
const turns = { long: 4, reach: 8 };
const seconds = { short: 120, long: 300, sanitized: 600 };

const { values, positionals } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    'skip-arm64': { type: 'boolean', default: false },
    map: { type: 'boolean', default: false },
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
const change = readChange(checkout);
/** Where nobody counts commits, every file has its long counts. */
const isUncounted = typeof change === 'string';
const seed = process.env['SVC_TEST_SEED'] ?? String(randomInt(2 ** 31));

await runScript(async () => {
  endWithUs();
  const timeout = values.timeout === undefined ? undefined : Number(values.timeout);
  if (timeout !== undefined && !(timeout > 0)) throw new Error(`--timeout is "${values.timeout}": give seconds`);
  const isWhole = positionals.length === 0;
  const asked = positionals.flatMap(namesOf);
  const hasArm64 = values.full && isWhole && !values['skip-arm64'] && !whyNoArm64();
  if (hasArm64) await runSteps(nativeSteps('arm64'));
  console.log(`What is random has the seed ${seed}: SVC_TEST_SEED=${seed} does the same again`);
  const reports: RunReport[] = [];
  if (!values.asan && !values.tsan) reports.push(await runPlain(isWhole ? wholeRun() : asked, isWhole, hasArm64, timeout));
  const sanitized = isWhole ? nativeTestFiles(allFiles) : asked;
  if (values.asan || (values.full && isWhole && !values.tsan)) reports.push(...(await runSanitized('asan', sanitized, timeout)));
  if (values.tsan) reports.push(...(await runSanitized('tsan', sanitized, timeout)));
  tellTotals(reports);
});

/** `npm test` leaves some of the dear ones to later runs. */
function wholeRun(): readonly string[] {
  if (values.all || values.full || values.record || values.map) return allFiles;
  const { files, why } = chooseFiles(allFiles, change, { budgets, graph, modules: ModuleMap.read(checkout) });
  console.log(`${files.length} of ${allFiles.length} test files: ${why}`);
  return files;
}

async function runPlain(files: readonly string[], isWhole: boolean, hasArm64: boolean, timeout?: number): Promise<RunReport> {
  // A file by itself builds the programs that it compares with.
  await runSteps([...(isWhole ? [testProgramStep(defaultPreset())] : []), bundleStep()]);
  const reach = new ReachWatch(checkout, graph, values.map || ((file) => values.full && isWhole && isTurn(file, turns.reach)));
  const env = { ...process.env, SVC_TEST_SEED: seed, SVC_TEST_PROGRAM: bundledProgram, ...(hasArm64 && { SVC_TEST_ARM64: '1' }) };
  const envOf = (file: string) => ({
    ...env,
    ...(values.full && { SVC_TEST_FULL: '1' }),
    ...(values.full && (!isWhole || isUncounted || isTurn(file, turns.long)) && { SVC_TEST_LONG: '1' }),
  });
  const run = isWhole ? runAndTryAgain : runOnce;
  const timeoutSeconds = timeout ?? (values.full ? seconds.long : seconds.short);
  const report = await run(files, { envOf, timeoutSeconds, reach });
  if (values.map) reach.write();
  if (values.record) budgets.with(report.costs, allFiles).write(checkout);
  reach.close();
  return report;
}

/** Every so many commits. */
function isTurn(file: string, nTurns: number): boolean {
  return typeof change !== 'string' && allFiles.indexOf(file) % nTurns === change.nCommits % nTurns;
}

/** What is random is tried in its short counts: the run before had the long ones. */
async function runSanitized(name: 'asan' | 'tsan', files: readonly string[], timeout = seconds.sanitized): Promise<RunReport[]> {
  const { title, runtime, packages } = sanitizers[name];
  const env = sanitizerEnvironment(name, { ...process.env, SVC_TEST_SEED: seed });
  if (!env) {
    console.log(`Run under ${title} skipped: the compiler has no ${runtime} (${packages})`);
    return [];
  }
  await runSteps([...nativeSteps(name), testProgramStep(name)]);
  console.log(`The native tests again, with the addons under ${title}:`);
  const options = { envOf: () => env, timeoutSeconds: timeout };
  return [await runAndTryAgain(files, options, `second-tries-${name}`)];
}

type PlainOptions = Pick<RunOptions, 'envOf' | 'timeoutSeconds' | 'reach'>;

function runOnce(files: readonly string[], options: PlainOptions, n = nAtOnce): Promise<RunReport> {
  const { envOf, reach } = options;
  // Files that may share a process have the same environment.
  const placeOf = (file: string) =>
    n === 1 || !isPure(file, graph, budgets) || reach?.isWatched(file)
      ? undefined
      : `${envOf(file)['SVC_TEST_LONG']} ${databaseOf(file)}`;
  return runUnits(planUnits(files, budgets, placeOf), { ...options, nAtOnce: n, graph, show: (line) => console.log(line) });
}

/**
 * What failed in a whole run is tried once more, with nothing beside it: what fails then is a fault, and what does not is named and kept in
 * a list. A file that is in it twice within ten runs is a fault as well.
 */
async function runAndTryAgain(files: readonly string[], options: PlainOptions, list = 'second-tries'): Promise<RunReport> {
  const first = await runOnce(files, options);
  const { failedFiles } = first;
  const isChance = failedFiles.length <= mostFilesTriedAgain;
  if (failedFiles.length > 0 && isChance) console.log(`Again, with nothing beside it: ${failedFiles.join(', ')}`);
  const again = isChance ? await runOnce(failedFiles, options, 1) : first;
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
