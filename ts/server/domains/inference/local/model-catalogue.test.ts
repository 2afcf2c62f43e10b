import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { StoredModel } from '../models/model-source.ts';
import type { InspectionResult } from './inspection/inspection-result.ts';
import { Inspector } from './inspection/inspector.ts';
import { ModelCatalogue } from './model-catalogue.ts';
import { ModelRegistry } from './model-registry.ts';
import { defaultRegistryLimits } from './registry-limits.ts';

const sound: InspectionResult = { usable: true, hasChatTemplate: true, supportsTools: true, supportsThinking: false };

function setUp(t: Test, ids: readonly string[]) {
  const folder = t.testdir(Object.fromEntries(ids.map((id) => [`${id}.gguf`, 'x'])));
  const models = ids.map((id): StoredModel => {
    const path = join(folder, `${id}.gguf`);
    return { id, path, kind: 'chat', sizeBytes: 1, architecture: 'llama', family: 'llama', nCtxTrain: 512, createdAt: 5 };
  });
  const running = new Map<string, (result: InspectionResult) => void>();
  /** Each inspection takes until the test says what it found. */
  const run = (path: string) =>
    new Promise<InspectionResult>((resolve) => running.set(path.slice(folder.length + 1, -'.gguf'.length), resolve));
  const registry = new ModelRegistry(() => Promise.reject(new Error('nothing is loaded here')), defaultRegistryLimits(), []);
  const source = { list: async () => models, find: async (id: string) => models.find((model) => model.id === id) };
  const catalogue = new ModelCatalogue(
    source,
    new Inspector(undefined, run, 0),
    registry,
    () => true,
    () => ({ engine: {}, load: {} }),
  );
  const finish = async (id: string, result: InspectionResult = sound): Promise<void> => {
    while (!running.has(id)) await new Promise((resolve) => setImmediate(resolve));
    running.get(id)?.(result);
  };
  return { catalogue, models, finish };
}

const states = (cards: { id: string; state: string }[]) => cards.map(({ id, state }) => `${id} ${state}`);

t.test('a new file is listed as being inspected, and no request for another model waits for it', async (t) => {
  const { catalogue, models, finish } = setUp(t, ['old', 'new']);
  const fresh = models.pop() as StoredModel;
  const first = catalogue.cards('old');
  await finish('old');
  t.strictSame(states(await first), ['old unloaded']);
  models.push(fresh);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  t.strictSame(states(await catalogue.cards('old')), ['old unloaded', 'new inspecting']);
  t.strictSame(states(await catalogue.cards('another')), ['old unloaded', 'new inspecting'], 'another can answer');
  const asked = catalogue.cards('new');
  await finish('new', { usable: false, reason: 'It is broken.' });
  t.strictSame(states(await asked), ['old unloaded', 'new unusable'], 'whoever asks for it waits');
});

t.test('while nothing can answer yet, a request for any model waits', async (t) => {
  const { catalogue, finish } = setUp(t, ['one', 'two']);
  t.strictSame(states(await catalogue.cards()), ['one inspecting', 'two inspecting'], 'a list does not wait');
  const asked = catalogue.cards('another');
  await Promise.all([finish('one'), finish('two')]);
  t.strictSame(states(await asked), ['one unloaded', 'two unloaded']);
});
