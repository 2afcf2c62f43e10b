import t, { type Test } from 'tap';
import { silentLog } from '../../platform/module/test-support/scripted-context.ts';
import { DefaultModel } from './default-model.ts';
import { inferenceError } from './errors.ts';
import type { StoredModel } from './models/model-source.ts';
import { sourceOf, storedModel } from './test-support/stored-models.ts';

interface Node {
  readonly models: StoredModel[];
  readonly loaded: string[];
  /** The default while each of them was being loaded. */
  readonly answering: (string | undefined)[];
  readonly pinned: Set<string>;
  /** Models whose file cannot be loaded. */
  readonly broken: Set<string>;
  readonly errors: string[];
  readonly defaultModel: DefaultModel;
}

const model = (id: string, sizeBytes: number, facts: Partial<StoredModel> = {}) => ({
  ...storedModel('', id),
  sizeBytes,
  ...facts,
});
const demonstration = model('tiny', 1, { demonstration: 'It shows how.' });

function nodeOf({ models, broken = [], named = '' }: { models: StoredModel[]; broken?: string[]; named?: string }): Node {
  const [loaded, errors, answering]: [string[], string[], (string | undefined)[]] = [[], [], []];
  const node = { models, loaded, answering, errors, pinned: new Set<string>(), broken: new Set(broken) };
  const local = {
    load: async (id: string) => {
      if (node.broken.has(id)) throw inferenceError('model_invalid', 'It has no tensors.');
      loaded.push(id);
      answering.push(defaultModel.id);
    },
    setPinned: (id: string, isPinned: boolean) => void (isPinned ? node.pinned.add(id) : node.pinned.delete(id)),
    state: async (id: string) =>
      models.some((each) => each.id === id) ? (loaded.includes(id) ? ('loaded' as const) : ('unloaded' as const)) : undefined,
    unavailableReason: () => undefined,
  };
  const defaultModel = new DefaultModel({
    settings: { default_model: named },
    source: { list: async () => [...models], find: (id) => sourceOf(models).find(id) },
    local,
    onLoadError: (id) => void errors.push(id),
    log: silentLog,
  });
  return { ...node, defaultModel };
}

async function started(options: Parameters<typeof nodeOf>[0]): Promise<Node> {
  const node = nodeOf(options);
  await node.defaultModel.choose();
  await node.defaultModel.load();
  return node;
}

async function expectDefault(t: Test, { defaultModel, pinned }: Node, id: string): Promise<void> {
  t.equal(defaultModel.id, id);
  t.strictSame([...pinned], [id], 'it stays in memory, and nothing else does');
}

t.test('the smallest model that is no demonstration is the default, and takes the place of one when it comes', async (t) => {
  const node = await started({ models: [demonstration] });
  await expectDefault(t, node, 'tiny');
  node.models.push(model('large', 20), model('small', 10));
  await node.defaultModel.reconsider();
  await expectDefault(t, node, 'small');
  t.strictSame(node.loaded, ['tiny', 'small']);
  t.strictSame(node.answering, ['tiny', 'tiny'], 'the demonstration answers until the other one is loaded');
  node.models.push(model('smaller', 5));
  await node.defaultModel.reconsider();
  await expectDefault(t, node, 'small');
  t.equal(await node.defaultModel.findFailure(), undefined);
});

t.test('a model that came and cannot be loaded leaves the demonstration in its place, and is told of once', async (t) => {
  const node = await started({ models: [demonstration], broken: ['pulled'] });
  node.models.push(model('pulled', 10));
  await Promise.all([node.defaultModel.reconsider(), node.defaultModel.reconsider()]);
  await expectDefault(t, node, 'tiny');
  t.strictSame(node.errors, ['pulled']);
  t.equal(await node.defaultModel.findFailure(), 'pulled could not be loaded, and tiny answers in its place: It has no tensors.');

  node.broken.clear();
  node.models[1] = model('pulled', 11);
  await node.defaultModel.reconsider();
  await expectDefault(t, node, 'pulled');
  t.equal(await node.defaultModel.findFailure(), undefined, 'another file under its name is tried again');
});

t.test('a node that starts with a broken model goes on with the next, and with the demonstration at last', async (t) => {
  const models = [demonstration, model('large', 20), model('small', 10)];
  await expectDefault(t, await started({ models, broken: ['small'] }), 'large');
  const node = await started({ models: [...models], broken: ['small', 'large'] });
  await expectDefault(t, node, 'tiny');
  t.strictSame(node.errors, ['small', 'large']);
  node.models.splice(1, 2);
  t.equal(await node.defaultModel.findFailure(), undefined, 'models that are gone are no failure');
});

t.test('a configured model has no substitute, and is loaded when it has come', async (t) => {
  const node = await started({ models: [demonstration], broken: ['mine'], named: 'Mine' });
  await expectDefault(t, { ...node, pinned: new Set(['mine']) }, 'mine');
  t.strictSame(node.errors, ['mine']);
  t.equal(await node.defaultModel.findFailure(), 'It has no tensors.');
  node.broken.clear();
  node.models.push(model('mine', 10));
  await node.defaultModel.reconsider();
  await expectDefault(t, node, 'mine');
  t.strictSame(node.loaded, ['mine']);
});
