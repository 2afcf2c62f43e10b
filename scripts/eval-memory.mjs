// npm run eval:memory [-- options]: makes the checkout ready and runs models/eval/memory/main.ts.
import { join } from 'node:path';
import { becomeTypeScript } from '../ts/cli/node-runtime.mjs';
import { checkout } from './setup/paths.mjs';
import { runScript } from './setup/run-script.mjs';
import { setUp } from './setup/set-up.mjs';

await runScript(async () => {
  await setUp();
  await becomeTypeScript(join(checkout, 'models', 'eval', 'memory', 'main.ts'), process.argv.slice(2));
});
