import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findNode } from '../../ts/cli/node-runtime.mjs';
import { checkout } from './paths.mjs';
import { runCommand } from './run-command.mjs';
import { SetUpError } from './set-up-error.mjs';
import { modelsFolder } from './shipped-models.mjs';
import { fingerprint, readStamp, writeStamp } from './stamps.mjs';

const stamp = join(checkout, 'build', 'default-model.stamp');

function stampValue() {
  return `${modelsFolder()}\n${fingerprint(checkout, ['models/random', 'native/sources.json'], (path) => !path.endsWith('.test.ts'))}\n`;
}

/** Whether the default model was made by the present generator and is still there. */
export async function isDefaultModelMade() {
  return existsSync(join(modelsFolder(), 'svc-random-tiny.gguf')) && (await readStamp(stamp)) === stampValue();
}

/** Makes the model that answers until a real one is pulled. */
export async function makeDefaultModel() {
  const node = findNode();
  if (!node) throw new SetUpError('The Node 22 runtime is missing from node_modules: run `npm start` again');
  await runCommand(node, [join(checkout, 'models', 'random', 'default.ts'), '--out', modelsFolder()], { cwd: checkout });
  await writeStamp(stamp, stampValue());
}
