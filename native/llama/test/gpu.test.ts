/** On a GPU the tokens are those of the CPU, but where two are as likely as each other. Skipped where no GPU computes. */
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { type LlamaEngine, LlamaModel, type LoadOptions, systemInfo } from '../../../ts/server/native/llama.ts';
import { loadAddon } from '../../../ts/server/native/load.ts';
import { prompts } from './prompts.ts';
import { nThreads } from './reference.ts';

loadAddon('llama');
const skip = systemInfo().devices.some(({ kind }) => kind === 'gpu') ? false : 'no GPU computes here';
const nTokens = 32;
const twenty = Array.from({ length: 20 }, (_, i) => `${prompts[i % prompts.length]}${i < prompts.length ? '' : ` ${i}`}`);
/** Log probabilities of tokens that may take each other's place differ by less: kernels add in another order. */
const tie = 0.02;

for (const options of [{ arch: 'llama' }, { arch: 'qwen3', vocabulary: 'gpt-2', type: 'q8_0' }] as const) {
  t.test(`${options.arch}: greedy answers to 20 prompts`, { skip }, async (t) => {
    const path = await randomModel(options);
    const [gpu, cpu] = await Promise.all([answersOf(path, {}), answersOf(path, { devices: ['none'], nGpuLayers: 0 })]);
    for (const [i, { tokens, gaps }] of cpu.entries()) {
      const other = gpu[i]?.tokens ?? [];
      const at = tokens.findIndex((token, position) => token !== other[position]);
      if (at < 0) t.pass();
      else t.ok((gaps[at] ?? 1) < tie, `prompt ${i}: the tokens part at ${at}, where the CPU prefers its own by ${gaps[at]}`);
    }
  });
}

interface Answer {
  tokens: number[];
  /** At each position how much likelier the chosen token is than the next one, as log probabilities. */
  gaps: number[];
}

async function answersOf(path: string, load: Omit<LoadOptions, 'path'>): Promise<Answer[]> {
  const model = await LlamaModel.load({ path, ...load });
  const engine = await model.createEngine({ nParallel: 1, nThreads, nCtx: 512 });
  try {
    const answers: Answer[] = [];
    for (const text of twenty) answers.push(await answerOf(engine, text));
    return answers;
  } finally {
    await engine.close();
    await model.close();
  }
}

function answerOf(engine: LlamaEngine, text: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const answer: Answer = { tokens: [], gaps: [] };
    engine.submit(
      {
        tenant: 'test',
        prompt: { kind: 'text', text, addSpecial: true },
        maxTokens: nTokens,
        sampling: { temperature: 0, ignoreEos: true },
        topLogprobs: 2,
      },
      {
        onLogprobs: (_choice, list) => {
          for (const { token, top } of list) {
            answer.tokens.push(token);
            answer.gaps.push((top[0]?.logprob ?? 0) - (top[1]?.logprob ?? Number.NEGATIVE_INFINITY));
          }
        },
        onContent() {},
        onFinish() {},
        onDone: () => resolve(answer),
        onError: reject,
      },
    );
  });
}
