// npm start: makes the checkout ready, then becomes `svc serve` with the arguments given.
import { join } from 'node:path';
import { becomeTypeScript } from '../ts/cli/node-runtime.mjs';
import { checkout } from './setup/paths.mjs';
import { runScript } from './setup/run-script.mjs';
import { setUp } from './setup/set-up.mjs';

await runScript(async () => {
  await setUp();
  await becomeTypeScript(join(checkout, 'ts', 'cli', 'svc.ts'), ['serve', ...process.argv.slice(2)]);
});
