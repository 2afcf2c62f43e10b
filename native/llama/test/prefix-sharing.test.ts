/** What one request computed serves the next that begins alike, running or finished, within a tenant alone. */
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { LlamaModel } from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';

function prompt(own: number, nShared = 400, nOwn = 20): Int32Array {
  const shared = Array.from({ length: nShared }, (_, i) => 300 + ((i * 7919) % 5_000));
  return Int32Array.from([1, ...shared, ...Array.from({ length: nOwn }, (_, i) => 6_000 + own * 100 + i)]);
}

for (const kvUnified of [true, false]) {
  t.test(`KV buffer ${kvUnified ? 'for all' : 'for each'}`, async (t) => {
    const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama' }) });
    t.teardown(() => model.close());
    const engine = await model.createEngine({ nCtx: 8_192, nParallel: 8, kvUnified });
    t.teardown(() => engine.close());
    const ask = (tenant: string, own: number) =>
      complete(engine, { tenant, prompt: { kind: 'tokens', tokens: prompt(own) }, maxTokens: 4, sampling: { temperature: 0 } });

    const alike = await Promise.all(Array.from({ length: 8 }, (_, own) => ask('a', own)));
    t.ok(engine.stats().promptTokensTotal < 401 + 8 * 20 + 20, 'eight at once compute the shared part once');
    t.equal(alike.filter(({ usage }) => usage.nCachedTokens >= 401).length, 7, 'seven are told so');

    const again = await ask('a', 3);
    t.equal(again.usage.nCachedTokens, 420, 'all but the last token of a finished prompt are there');

    const foreign = await ask('b', 3);
    t.equal(foreign.usage.nCachedTokens, 0, 'another tenant finds nothing');
  });
}
