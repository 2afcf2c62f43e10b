import t from 'tap';
import type { LoadOptions, MemoryPlan } from '../../../native/llama-shapes.ts';
import type { StoredModel } from '../models/model-source.ts';
import { ScriptedBinding } from '../test-support/scripted-engine.ts';
import type { LocalOptions } from './local-options.ts';
import { ModelOpener } from './model-opener.ts';
import { defaultDeviceBytes, defaultRegistryLimits } from './registry-limits.ts';

const { signal } = new AbortController();
const GiB = 2 ** 30;

const stored: StoredModel = {
  id: 'm',
  path: '/m.gguf',
  sizeBytes: 1,
  kind: 'chat',
  architecture: 'llama',
  family: 'llama',
  nCtxTrain: 512,
  createdAt: 0,
};

/** The devices that the scripted machine has not. */
function setUp(deviceBytes: number, options: Partial<LocalOptions> = {}) {
  const loads: LoadOptions[] = [];
  const binding = new ScriptedBinding();
  const load = binding.load.bind(binding);
  binding.load = (asked, hooks) => {
    loads.push(asked);
    return load(asked, hooks);
  };
  const limits = defaultRegistryLimits();
  limits.memory.deviceBytes = deviceBytes;
  const opener = new ModelOpener(binding, { pinned: [], engine: {}, load: {}, limits, ...options }, async () => undefined);
  return { opener, loads };
}

const planned = (nGpuLayers?: number): MemoryPlan => ({
  weights: { hostBytes: 1, deviceBytes: 1 },
  extras: { hostBytes: 1, deviceBytes: 0 },
  ...(nGpuLayers === undefined ? {} : { nGpuLayers }),
});

t.test('an inspection fits layers to the memory of devices where their number is left to it', async (t) => {
  t.equal(setUp(GiB).opener.inspectionPlan(stored).deviceBytes, GiB, 'nothing is said');
  t.equal(setUp(GiB, { load: { nGpuLayers: -1 } }).opener.inspectionPlan(stored).deviceBytes, GiB, '-1');
  for (const nGpuLayers of [-2, 0, 12])
    t.equal(setUp(GiB, { load: { nGpuLayers } }).opener.inspectionPlan(stored).deviceBytes, undefined, `${nGpuLayers}`);
  t.equal(setUp(0).opener.inspectionPlan(stored).deviceBytes, undefined, 'no device');
});

t.test("a model's own number counts before that of all", async (t) => {
  const models = new Map([['m', { engine: {}, load: { nGpuLayers: 3 } }]]);
  const { load, deviceBytes } = setUp(GiB, { load: { nGpuLayers: -1 }, models }).opener.inspectionPlan(stored);
  t.strictSame([load.nGpuLayers, deviceBytes], [3, undefined]);
});

t.test('a model is loaded with as many layers as fit', async (t) => {
  const { opener, loads } = setUp(GiB, { load: { nGpuLayers: -1 } });
  await opener.open({ stored, plan: planned(7) }, () => {}, signal);
  await opener.open({ stored, plan: planned(0) }, () => {}, signal);
  await opener.open({ stored, plan: planned() }, () => {}, signal);
  await opener.open({ stored, plan: undefined }, () => {}, signal);
  t.strictSame(
    loads.map(({ nGpuLayers }) => nGpuLayers),
    [7, 0, -1, -1],
  );
});

t.test('devices are used up to nine tenths, and to what other programs leave', async (t) => {
  const device = (memoryBytes: number, freeBytes: number, kind: 'gpu' | 'cpu' = 'gpu') => ({
    name: '',
    description: '',
    kind,
    memoryBytes,
    freeBytes,
  });
  const table: [devices: ReturnType<typeof device>[], expected: number][] = [
    [[], 0],
    [[device(64 * GiB, 64 * GiB, 'cpu')], 0],
    [[device(10 * GiB, 10 * GiB)], 9 * GiB],
    [[device(10 * GiB, 4 * GiB)], 4 * GiB],
    [[device(10 * GiB, 10 * GiB), device(10 * GiB, 2 * GiB)], 11 * GiB],
    [[device(10 * GiB, 4.1 * GiB)], 4 * GiB],
  ];
  for (const [devices, expected] of table) t.equal(defaultDeviceBytes({ devices }), expected, JSON.stringify(devices));
});
