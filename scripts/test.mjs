// npm test [-- FILES]: makes the checkout ready and runs every test. npm run test:full: the same with long property runs, the ARM64
// addon under an emulator, and the native tests again with sanitised addons.
// With FILES, those alone; with --asan or --tsan, those (or the native ones) under these sanitizers alone; --timeout SECONDS is the
// limit of one file. Ends with `N passed, N failed`.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runTypeScript } from '../ts/cli/node-runtime.mjs';
import { whyNoArm64 } from './setup/arm64.mjs';
import { nativeSteps, testProgramStep } from './setup/native.mjs';
import { checkout } from './setup/paths.mjs';
import { runScript } from './setup/run-script.mjs';
import { sanitizerEnvironment, sanitizers } from './setup/sanitizers.mjs';
import { defaultPreset, setUp } from './setup/set-up.mjs';
import { runSteps } from './setup/steps.mjs';
import { readFailedFiles, readTapFailures } from './setup/tap-failures.mjs';
import { TapProgress } from './setup/tap-progress.mjs';
import { readTapTotals } from './setup/tap-totals.mjs';
import { listTestFiles } from './setup/test-files.mjs';

/** More failures than this are not chance. */
const mostFilesTriedAgain = 4;
/** Folders whose tests load the addons. */
const nativeFolders = ['native/llama/test', 'native/vector/test', 'ts/server/native'];

await runScript(async () => {
  const { values, positionals } = parseArgs({
    options: {
      full: { type: 'boolean', default: false },
      asan: { type: 'boolean', default: false },
      tsan: { type: 'boolean', default: false },
      timeout: { type: 'string' },
    },
    allowPositionals: true,
  });
  const timeout = values.timeout === undefined ? undefined : Number(values.timeout);
  if (timeout !== undefined && !(timeout > 0)) throw new Error(`--timeout is "${values.timeout}": give seconds`);
  process.chdir(checkout);
  await setUp();
  const isAll = positionals.length === 0;
  if (values.full && isAll && !whyNoArm64()) await runSteps(nativeSteps('arm64'));
  const env = values.full ? { ...process.env, SVC_TEST_LONG: '1' } : process.env;
  const runs = [];
  if (!values.asan && !values.tsan) {
    await runSteps([testProgramStep(defaultPreset())]);
    const run = isAll ? runAll : runFiles;
    runs.push(await run(isAll ? listTestFiles(checkout) : positionals, env, timeout ?? (values.full ? 300 : 120)));
  }
  const sanitized = isAll ? nativeTests() : positionals;
  if (values.asan || (values.full && isAll && !values.tsan)) runs.push(await runSanitized('asan', sanitized, env, timeout));
  if (values.tsan) runs.push(await runSanitized('tsan', sanitized, env, timeout));
  const total = (/** @type {'passed' | 'failed' | 'skipped'} */ name) => runs.reduce((sum, run) => sum + run[name], 0);
  if (total('skipped') > 0) console.log(`${total('skipped')} skipped (each says why above)`);
  console.log(`${total('passed')} passed, ${total('failed')} failed`);
  if (total('failed') > 0) process.exitCode = 1;
});

function nativeTests() {
  return nativeFolders.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => join(folder, file)),
  );
}

/**
 * @param {'asan' | 'tsan'} name
 * @param {string[]} files
 * @param {NodeJS.ProcessEnv} env
 * @param {number} timeoutSeconds of one file; sanitised code is some ten times slower
 */
async function runSanitized(name, files, env, timeoutSeconds = 600) {
  const { title, runtime, packages } = sanitizers[name];
  const sanitized = sanitizerEnvironment(name, env);
  if (!sanitized) {
    console.log(`Run under ${title} skipped: the compiler has no ${runtime} (${packages})`);
    return { passed: 0, failed: 0, skipped: 1, failedFiles: [] };
  }
  await runSteps([...nativeSteps(name), testProgramStep(name)]);
  console.log(`The native tests again, with the addons under ${title}:`);
  return runAll(files, sanitized, timeoutSeconds);
}

/**
 * A whole run takes an hour of a busy machine. What failed in it is tried once more, with nothing beside it: what fails then is a fault,
 * and what does not is named, so that somebody looks for what it depends on.
 * @param {string[]} files
 * @param {NodeJS.ProcessEnv} env
 * @param {number} timeoutSeconds of one file
 */
async function runAll(files, env, timeoutSeconds) {
  const first = await runFiles(files, env, timeoutSeconds);
  const { failedFiles } = first;
  if (failedFiles.length === 0 || failedFiles.length > mostFilesTriedAgain) return first;
  console.log(`Again, with nothing beside it: ${failedFiles.join(', ')}`);
  const again = [];
  for (const file of failedFiles) again.push(await runFiles([file], env, timeoutSeconds));
  const flaky = failedFiles.filter((_, i) => again[i]?.failed === 0);
  if (flaky.length > 0) console.log(`UNSTABLE, failed once and then passed: ${flaky.join(', ')}`);
  const sum = (/** @type {'passed' | 'failed' | 'skipped'} */ name) => again.reduce((total, run) => total + run[name], 0);
  return { ...first, passed: first.passed + sum('passed'), failed: sum('failed') };
}

/**
 * @param {string[]} files
 * @param {NodeJS.ProcessEnv} env
 * @param {number} timeoutSeconds of one file
 */
async function runFiles(files, env, timeoutSeconds) {
  const progress = new TapProgress((line) => console.log(line));
  let tap = '';
  try {
    await runTypeScript(join(checkout, 'scripts', 'run-test-files.mjs'), [String(timeoutSeconds), ...files], {
      env,
      onOutput: (text) => {
        tap += text;
        progress.write(text);
      },
    });
    const failures = readTapFailures(tap);
    if (failures) console.log(failures);
    const totals = readTapTotals(tap);
    // Tap fails for more than assertions: a timeout, an open handle, no tests at all.
    if (process.exitCode && totals.failed === 0) totals.failed = 1;
    return { ...totals, failedFiles: readFailedFiles(tap) };
  } finally {
    process.exitCode = 0;
  }
}
