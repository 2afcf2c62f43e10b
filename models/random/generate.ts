/** node models/random/generate.ts --out FILE [--arch llama] [--shape tiny] [--seed 1] [--type f16] [--vocabulary NAME] */
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { architectures } from './architectures.ts';
import { type RandomModelOptions, recipe, writeRandomModel } from './random-model.ts';
import { shapes } from './shapes.ts';
import { encodeTensor } from './tensor-encoder.ts';

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    arch: { type: 'string', default: 'llama' },
    shape: { type: 'string', default: 'tiny' },
    seed: { type: 'string', default: '1' },
    type: { type: 'string', default: 'f16' },
    vocabulary: { type: 'string' },
  },
});

const accepted = { arch: Object.keys(architectures), shape: Object.keys(shapes), type: Object.keys(encodeTensor) };
for (const [option, names] of Object.entries(accepted)) {
  const value = values[option as keyof typeof accepted];
  if (!names.includes(value)) fail(`--${option} is ${value}; there are ${names.join(', ')}`);
}
const seed = Number(values.seed);
if (!Number.isSafeInteger(seed)) fail(`--seed is ${values.seed}; it must be a whole number`);
if (!values.out) fail('--out FILE is missing');

const { out, seed: _, ...names } = values;
const options = { ...names, seed } as RandomModelOptions;
await writeRandomModel(out, options);
console.log(`${out}: ${statSync(out).size} bytes, ${JSON.stringify(recipe(options))}`);

function fail(problem: string): never {
  console.error(
    `${problem}\nusage: node models/random/generate.ts --out FILE [--arch] [--shape] [--seed] [--type] [--vocabulary]`,
  );
  process.exit(2);
}
