// npm test [-- FILES]: makes the checkout ready and runs the tests; scripts/tests/run.ts says which.
import { join } from 'node:path';
import { runTypeScript } from '../ts/cli/node-runtime.mjs';
import { checkout } from './setup/paths.mjs';
import { runScript } from './setup/run-script.mjs';
import { setUp } from './setup/set-up.mjs';

await runScript(async () => {
  process.chdir(checkout);
  await setUp();
  await runTypeScript(join(checkout, 'scripts', 'tests', 'run.ts'), process.argv.slice(2));
});
