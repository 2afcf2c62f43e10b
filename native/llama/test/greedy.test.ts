/** Greedy decoding, one sequence: the same tokens as llama.cpp gives. */
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import type { RandomModelOptions } from '../../../models/random/random-model.ts';
import { LlamaModel } from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';
import { prompts } from './prompts.ts';
import { noReferences, nThreads, runReferenceGreedy, runUpstream } from './reference.ts';

const nTokens = 16;
const models: RandomModelOptions[] = [
  { arch: 'llama' },
  { arch: 'llama', type: 'q4_0', seed: 2 },
  { arch: 'qwen3', vocabulary: 'gpt-2', type: 'q8_0' },
  { arch: 'gemma2' },
  { arch: 'phi3' },
  { arch: 'gpt2' },
  // A mixture of experts, a sliding window, recurrent layers, and recurrent ones beside attention and experts.
  { arch: 'qwen3moe' },
  { arch: 'gemma3' },
  { arch: 'mamba' },
  { arch: 'jamba' },
];

for (const options of models) {
  t.test(
    `${options.arch} ${options.type ?? 'f16'}: the tokens of llama.h, one prompt at a time`,
    { skip: noReferences() },
    async (t) => {
      const path = await randomModel(options);
      const expected = await runReferenceGreedy(path, prompts, nTokens);
      const model = await LlamaModel.load({ path });
      t.teardown(() => model.close());
      const engine = await model.createEngine({ nParallel: 1, nThreads, nCtx: 512 });
      t.teardown(() => engine.close());
      for (const [i, prompt] of prompts.entries()) {
        t.strictSame([...(await model.tokenize(prompt))], expected[i]?.prompt, `prompt tokens of ${JSON.stringify(prompt)}`);
        const answer = await complete(engine, { prompt: { kind: 'text', text: prompt, addSpecial: true }, maxTokens: nTokens });
        t.strictSame(answer.tokens, expected[i]?.completion, JSON.stringify(prompt));
      }
      const distinct = new Set(expected.map(({ completion }) => completion.join(' ')));
      t.ok(distinct.size > prompts.length / 2, 'answers differ from prompt to prompt, or the comparison says little');
    },
  );
}

t.test('the reference is what llama.cpp’s own llama-simple prints', { skip: noReferences() }, async (t) => {
  for (const arch of ['llama', 'gpt2'] as const) {
    const path = await randomModel({ arch });
    const chosen = prompts.slice(0, 4);
    const expected = await runReferenceGreedy(path, chosen, nTokens);
    const model = await LlamaModel.load({ path });
    t.teardown(() => model.close());
    for (const [i, prompt] of chosen.entries()) {
      const printed = await runUpstream('llama-simple', ['-m', path, '-n', String(nTokens), '-ngl', '0', prompt]);
      const { completion = [] } = expected[i] ?? {};
      const text = await model.detokenize(Int32Array.from(completion), { special: true });
      t.ok(printed.toString().trimEnd().endsWith(text.trimEnd()), `${arch} ${JSON.stringify(prompt)}`);
    }
  }
});

t.test('a request that names no temperature is sampled as the file says', async (t) => {
  const answers = async (temperature: number) => {
    const model = await LlamaModel.load({ path: await randomModel({ temperature }) });
    t.teardown(() => model.close());
    const engine = await model.createEngine({ nParallel: 1, nThreads, nCtx: 512 });
    t.teardown(() => engine.close());
    const one = (sampling: { seed: number; temperature?: number }) =>
      complete(engine, { prompt: { kind: 'text', text: 'Once', addSpecial: true }, maxTokens: nTokens, sampling });
    const all = [await one({ seed: 1 }), await one({ seed: 2 }), await one({ seed: 1, temperature: 0 })];
    return all.map(({ tokens }) => tokens.join());
  };
  const [first, second, greedy] = await answers(0);
  t.strictSame([first, second], [greedy, greedy], 'greedily');
  for (const temperature of [5, -1, Number.NaN]) {
    const [one, other] = await answers(temperature);
    t.not(one, other, `${temperature}: at random, as usual where the file makes no sense`);
  }
});
