// npm run bench -- SUITE [options]: makes the checkout ready, builds the rivals that the suite needs, and runs bench/run.ts.
import { join } from 'node:path';
import { becomeTypeScript } from '../ts/cli/node-runtime.mjs';
import { nativeSteps } from './setup/native.mjs';
import { checkout } from './setup/paths.mjs';
import { runScript } from './setup/run-script.mjs';
import { setUp } from './setup/set-up.mjs';
import { runSteps } from './setup/steps.mjs';

/** Suites whose rival is not llama-server, which takes minutes to compile. */
const withoutRivals = ['http'];

await runScript(async () => {
  const [suite = '', ...options] = process.argv.slice(2);
  await setUp();
  if (suite && !withoutRivals.includes(suite)) await runSteps(nativeSteps('bench'));
  await becomeTypeScript(join(checkout, 'bench', 'run.ts'), [suite, ...options]);
});
