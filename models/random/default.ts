/** node models/random/default.ts --out FOLDER: puts the demonstration model there, unless it is there already. */
import { parseArgs } from 'node:util';
import { ensureDefaultModel } from './default-model.ts';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
if (!values.out) {
  console.error('usage: node models/random/default.ts --out FOLDER');
  process.exit(2);
}
const { path, isNew } = await ensureDefaultModel(values.out);
console.log(isNew ? `made ${path} (random weights: it talks nonsense)` : `${path} is there`);
