/** Every number format that the settings name for the KV cache is one that the engine takes. */
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { LlamaModel } from '../../../ts/server/native/llama.ts';
import { cacheTypeNames } from '../../../ts/server/native/options/engine-options.ts';
import { complete } from './completion.ts';

for (const kind of cacheTypeNames) {
  t.test(`a cache of ${kind}`, async (t) => {
    const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama', shape: 'mid' }) });
    t.teardown(() => model.close());
    const engine = await model.createEngine({ nCtx: 512, nParallel: 1, nThreads: 1, cacheTypeK: kind, cacheTypeV: kind });
    t.teardown(() => engine.close());
    const tokens = Int32Array.from([1, 400, 500, 600]);
    t.equal(
      (
        await complete(engine, {
          prompt: { kind: 'tokens', tokens },
          maxTokens: 4,
          sampling: { temperature: 0, ignoreEos: true },
        })
      ).tokens.length,
      4,
    );
  });
}
