/** Penalties look back at the prompt as well as at the answer, as llama-server's do. */
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { LlamaModel, type Sampling } from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';

t.test('a token that fills the prompt is penalised from the first token on', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama', shape: 'tiny' }) });
  t.teardown(() => model.close());
  const engine = await model.createEngine({ nCtx: 512, nParallel: 1, nThreads: 1 });
  t.teardown(() => engine.close());
  const often = 700;
  const first = async (sampling: Sampling, n: number) => {
    const tokens = Int32Array.from([1, ...Array.from({ length: n }, () => often), 400, 500]);
    const job = { prompt: { kind: 'tokens', tokens } as const, maxTokens: 1, logitBias: [[often, 20]] as [number, number][] };
    return (await complete(engine, { ...job, sampling: { temperature: 0, ...sampling } })).tokens[0];
  };
  t.equal(await first({}, 40), often, 'it is the likeliest');
  t.not(await first({ frequencyPenalty: 2 }, 40), often, '40 times 2 outweigh it');
  t.equal(await first({ frequencyPenalty: 2 }, 1), often, 'once 2 does not');
  t.equal(await first({ frequencyPenalty: 2, repeatLastN: 8 }, 40), often, 'as far as it looks back');
});

t.test('a file that asks for a billion tokens of lookback gets no ring of that size', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama', penaltyLastN: 1_000_000_000 }) });
  t.teardown(() => model.close());
  const engine = await model.createEngine({ nCtx: 512, nParallel: 1, nThreads: 1 });
  t.teardown(() => engine.close());
  const before = process.resourceUsage().maxRSS;
  const prompt = { kind: 'tokens', tokens: Int32Array.from([1, 400, 500]) } as const;
  await complete(engine, { prompt, maxTokens: 2, sampling: { temperature: 0, frequencyPenalty: 1 } });
  const grownMib = (process.resourceUsage().maxRSS - before) / 1024;
  t.ok(grownMib < 200, `${grownMib.toFixed(0)} MiB more`);
});
