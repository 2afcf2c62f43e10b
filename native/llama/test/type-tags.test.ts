/** What JS gives back to the addon is what the addon made, whatever prototype it was given meanwhile. */
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import type { LlamaAddon } from '../../../ts/server/native/llama.ts';
import { loadAddon } from '../../../ts/server/native/load.ts';

const addon = loadAddon('llama') as LlamaAddon;
const model = await addon.startLoad({ path: await randomModel() }, () => {}).model;
t.teardown(() => model.close());
const engine = await model.createEngine({ nCtx: 256, nParallel: 1, nThreads: 1 }, () => {});
t.teardown(() => engine.close());

const disguised = <T extends object>(made: object, as: T): T =>
  Object.setPrototypeOf(made, Object.getPrototypeOf(as) as object) as T;

t.test('a draft model is a model', async (t) => {
  const refusal = { code: 'invalid_argument', message: /draftModel must be a loaded model/ };
  for (const draftModel of [{}, disguised({}, model), disguised(new addon.StagedBytes(8), model)])
    t.throws(() => model.createEngine({ draftModel: draftModel as typeof model }, () => {}), refusal);
});

t.test('text is a string or bytes', async (t) => {
  const staged = new addon.StagedBytes(8);
  const refusal = { code: 'invalid_argument', message: /'text' must be a string or bytes/ };
  const another = await model.createEngine({ nCtx: 256, nParallel: 1, nThreads: 1 }, () => {});
  const { close } = another;
  t.teardown(() => close.call(another));
  t.throws(() => model.tokenize(disguised({}, staged) as never, true, true), refusal);
  t.throws(() => model.tokenize(disguised(another, staged) as never, true, true), refusal);
});

t.test("constructors are the addon's own", async (t) => {
  const { constructor: Model } = Object.getPrototypeOf(model) as { constructor: new (from: unknown) => object };
  for (const from of [undefined, {}, model, engine]) t.throws(() => new Model(from), /models come from startLoad/);
});
