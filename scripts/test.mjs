// npm test [-- FILES]: makes the checkout ready and runs every test, then the native ones again with sanitised addons.
// With FILES, those alone; with --asan, those (or the native ones) under sanitizers alone; --timeout SECONDS is the limit of one
// file. Ends with `N passed, N failed`.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runTypeScript } from '../ts/cli/node-runtime.mjs';
import { whyNoArm64 } from './setup/arm64.mjs';
import { nativeSteps } from './setup/native.mjs';
import { checkout } from './setup/paths.mjs';
import { runScript } from './setup/run-script.mjs';
import { sanitizerEnvironment } from './setup/sanitizers.mjs';
import { setUp } from './setup/set-up.mjs';
import { runSteps } from './setup/steps.mjs';
import { readTapFailures } from './setup/tap-failures.mjs';
import { TapProgress } from './setup/tap-progress.mjs';
import { readTapTotals } from './setup/tap-totals.mjs';

/** Folders whose tests load the addons. */
const nativeFolders = ['native/llama/test', 'ts/server/native'];

await runScript(async () => {
  const { values, positionals } = parseArgs({
    options: { asan: { type: 'boolean', default: false }, timeout: { type: 'string' } },
    allowPositionals: true,
  });
  const timeout = values.timeout === undefined ? undefined : Number(values.timeout);
  if (timeout !== undefined && !(timeout > 0)) throw new Error(`--timeout is "${values.timeout}": give seconds`);
  process.chdir(checkout);
  await setUp();
  if (positionals.length === 0 && !values.asan && !whyNoArm64()) await runSteps(nativeSteps('arm64'));
  const runs = [];
  if (!values.asan) runs.push(await runTap(positionals, process.env, timeout));
  if (values.asan || positionals.length === 0)
    runs.push(await runSanitized(positionals.length > 0 ? positionals : nativeTests(), timeout));
  const total = (/** @type {'passed' | 'failed' | 'skipped'} */ name) => runs.reduce((sum, run) => sum + run[name], 0);
  if (total('skipped') > 0) console.log(`${total('skipped')} skipped (each says why above)`);
  console.log(`${total('passed')} passed, ${total('failed')} failed`);
  if (total('failed') > 0) process.exitCode = 1;
});

/** Given a folder, tap would also run the helpers in it. */
function nativeTests() {
  return nativeFolders.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => join(folder, file)),
  );
}

/**
 * @param {string[]} files
 * @param {number} timeoutSeconds of one file; sanitised code is some ten times slower
 */
async function runSanitized(files, timeoutSeconds = 600) {
  const env = sanitizerEnvironment();
  if (!env) {
    console.log(
      'Sanitised run skipped: the compiler has no libasan (Debian: libasan comes with g++; Fedora: dnf install libasan libubsan)',
    );
    return { passed: 0, failed: 0, skipped: 1 };
  }
  await runSteps(nativeSteps('asan'));
  console.log('The native tests again, with the addons under ASan and UBSan:');
  return runTap(files, env, timeoutSeconds);
}

/**
 * @param {string[]} files
 * @param {NodeJS.ProcessEnv} env
 * @param {number} timeoutSeconds of one file
 */
async function runTap(files, env, timeoutSeconds = 120) {
  const progress = new TapProgress((line) => console.log(line));
  let tap = '';
  try {
    // Tap's own reporters draw every assertion again for each new one: after some thousands the runner is busy for minutes, does
    // not see that a test has ended, and reports a timeout.
    await runTypeScript(
      join(checkout, 'node_modules', '.bin', 'tap'),
      ['run', '--reporter=tap', `--timeout=${timeoutSeconds}`, ...files],
      {
        env,
        onOutput: (text) => {
          tap += text;
          progress.write(text);
        },
      },
    );
    const failures = readTapFailures(tap);
    if (failures) console.log(failures);
    const totals = readTapTotals(tap);
    // Tap fails for more than assertions: a timeout, an open handle, no tests at all.
    if (process.exitCode && totals.failed === 0) totals.failed = 1;
    return totals;
  } finally {
    process.exitCode = 0;
  }
}
