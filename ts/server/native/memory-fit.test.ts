/** The machine's devices are a table here: what each number of layers takes. */
import t from 'tap';
import type { MemoryPlan } from './llama-shapes.ts';
import { type MeasureMemory, mostThatFit, planThatFits } from './memory-fit.ts';

const weightBytes = 1_000;

/** A model whose layers differ, as those of hybrids do, with a part of the context on each and a buffer that is there with any layer. */
function modelOf(layerBytes: readonly number[], { cacheBytes = 0, bufferBytes = 0 } = {}) {
  const asked: (number | undefined)[] = [];
  const measure: MeasureMemory = async (nGpuLayers) => {
    asked.push(nGpuLayers);
    const count = nGpuLayers ?? layerBytes.length;
    const placed = layerBytes.slice(0, count).reduce((sum, bytes) => sum + bytes, 0);
    const context = count === 0 ? 0 : count * cacheBytes + bufferBytes;
    const plan: MemoryPlan = {
      weights: { hostBytes: weightBytes - placed, deviceBytes: placed },
      extras: { hostBytes: 10, deviceBytes: 0 },
      engine: { hostBytes: 0, deviceBytes: context },
    };
    return { nLayers: layerBytes.length, plan };
  };
  return { measure, asked };
}

const even = [100, 100, 100, 100, 100];

const table: [title: string, layers: readonly number[], context: object, deviceBytes: number, expected: number | undefined][] = [
  ['all fit exactly', even, {}, 500, undefined],
  ['a byte too few', even, {}, 499, 4],
  ['room for one', even, {}, 100, 1],
  ['room for none', even, {}, 99, 0],
  ['no memory', even, {}, 0, 0],
  ['their part of the context counts', even, { cacheBytes: 20 }, 500, 4],
  ['so do buffers', even, { bufferBytes: 150 }, 500, 3],
  ['buffers alone are too large', even, { bufferBytes: 600 }, 500, 0],
  ['the output is larger than a layer', [300, 50, 50, 50], {}, 400, 3],
  ['the output alone does not fit', [300, 50, 50, 50], {}, 299, 0],
  ['one layer', [100], {}, 50, 0],
];

for (const [title, layers, context, deviceBytes, expected] of table) {
  t.test(`${title}: ${expected ?? 'all'}`, async (t) => {
    const { measure } = modelOf(layers, context);
    const plan = await planThatFits(measure, deviceBytes);
    t.equal(plan.nGpuLayers, expected);
    const { plan: same } = await measure(expected);
    t.match(plan, same, 'the plan is that of so many layers');
  });
}

t.test('an embedder counts where it takes more than the engine', async (t) => {
  const measure: MeasureMemory = async (nGpuLayers = 5) => {
    const use = (deviceBytes: number) => ({ hostBytes: 0, deviceBytes });
    const plan = { weights: use(100 * nGpuLayers), extras: use(0), engine: use(10), embedder: use(150) };
    return { nLayers: 5, plan };
  };
  t.equal((await planThatFits(measure, 500)).nGpuLayers, 3);
});

t.test('a model of many layers is measured a few times', async (t) => {
  const { measure, asked } = modelOf(Array.from({ length: 127 }, () => 1));
  t.equal((await planThatFits(measure, 77)).nGpuLayers, 77);
  t.ok(asked.length <= 9, `${asked.length} times`);
  t.equal(new Set(asked).size, asked.length, 'each number once');
});

t.test('a model that fits is measured once', async (t) => {
  const { measure, asked } = modelOf(even);
  await planThatFits(measure, 1e9);
  t.strictSame(asked, [undefined]);
});

t.test('for every number that fits, it is found', async (t) => {
  for (let most = 0; most < 40; most++)
    for (let fitting = 0; fitting <= most; fitting++)
      if ((await mostThatFit(most, (count) => count <= fitting)) !== fitting) t.fail(`${fitting} of ${most}`);
  t.pass('found');
});
