import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { areShippedModelsPlaced, placeShippedModels } from './shipped-models.mjs';

function checkout(t: Test) {
  const root = t.testdir({ models: { one: { 'one.gguf': 'first', 'card.md': '' }, two: { 'two.gguf': 'second' } } });
  return { root, folder: join(root, 'data', 'models') };
}

t.test('every model that a recipe folder holds is placed, and nothing else', async (t) => {
  const { root, folder } = checkout(t);
  t.equal(await areShippedModelsPlaced(root, folder), false);
  await placeShippedModels(root, folder);
  t.strictSame(readdirSync(folder).toSorted(), ['one.gguf', 'two.gguf']);
  t.equal(await areShippedModelsPlaced(root, folder), true);
});

t.test('a model that was trained again replaces the one placed, though it is as large', async (t) => {
  const { root, folder } = checkout(t);
  await placeShippedModels(root, folder);
  const source = join(root, 'models', 'one', 'one.gguf');
  writeFileSync(source, 'FIRST');
  utimesSync(source, new Date(), new Date(Date.now() + 10_000));
  t.equal(await areShippedModelsPlaced(root, folder), false);
  await placeShippedModels(root, folder);
  t.equal(readFileSync(join(folder, 'one.gguf'), 'utf8'), 'FIRST');
});
