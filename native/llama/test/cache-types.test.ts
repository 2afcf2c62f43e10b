/** Every number format that the settings name for the KV cache is one that the engine takes. */
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { inferenceSettings as settings } from '../../../ts/server/domains/inference/settings.ts';
import { LlamaModel } from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';

const kinds = settings['inference.cache_type_k'].schema.enum as string[];

for (const kind of kinds) {
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
