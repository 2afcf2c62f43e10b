/** Our engine's own throughput, through the native door: no HTTP, no chat template, prompts as token ids. */
import { SeededRandom } from '../../models/random/seeded-random.ts';
import type { GenerationJob, LlamaEngine } from '../../ts/server/native/llama.ts';
import type { KernelLoad, KernelTiming } from './kernel-load.ts';

/** @param nVocab prompts are drawn from the whole vocabulary, as llama-batched-bench draws its own. */
export async function timeKernels(
  engine: LlamaEngine,
  load: KernelLoad,
  { nVocab, seed }: { nVocab: number; seed: number },
): Promise<KernelTiming> {
  const prompts = Array.from({ length: load.nSequences }, (_, index) => drawTokens(load.nPrompt, nVocab, seed * 4_096 + index));
  return load.phase === 'prefill' ? timePrefill(engine, prompts) : timeDecode(engine, prompts, load.nGenerate);
}

async function timePrefill(engine: LlamaEngine, prompts: readonly Int32Array[]): Promise<KernelTiming> {
  const nBefore = engine.stats().promptTokensTotal;
  const startedAt = performance.now();
  await Promise.all(prompts.map((prompt) => submit(engine, prompt, 1).done));
  return { nTokens: engine.stats().promptTokensTotal - nBefore, seconds: (performance.now() - startedAt) / 1_000 };
}

/** Sequences wait, paused, until all have their prompt behind them: what is timed is decoding alone, by all of them at once. */
async function timeDecode(engine: LlamaEngine, prompts: readonly Int32Array[], nGenerate: number): Promise<KernelTiming> {
  const nBefore = engine.stats().completionTokensTotal;
  const jobs = prompts.map((prompt) => submit(engine, prompt, nGenerate));
  for (const { id } of jobs) engine.pause(id);
  const failed = Promise.race(jobs.map(({ done }) => done));
  while (engine.stats().completionTokensTotal - nBefore < prompts.length) await Promise.race([failed, turn()]);
  const nAtStart = engine.stats().completionTokensTotal;
  const startedAt = performance.now();
  for (const { id } of jobs) engine.resume(id);
  await Promise.all(jobs.map(({ done }) => done));
  return { nTokens: engine.stats().completionTokensTotal - nAtStart, seconds: (performance.now() - startedAt) / 1_000 };
}

function submit(engine: LlamaEngine, tokens: Int32Array, maxTokens: number): { id: number; done: Promise<void> } {
  let id = 0;
  const job: GenerationJob = {
    tenant: 'bench',
    prompt: { kind: 'tokens', tokens },
    maxTokens,
    // Sampled as a user's answers are; greedy ones of random weights run in circles, which flatters whoever speculates.
    sampling: { temperature: 1, seed: 1, ignoreEos: true },
    cachePrompt: false,
  };
  const done = new Promise<void>((resolve, reject) => {
    id = engine.submit(job, { onContent: () => {}, onFinish: () => {}, onDone: () => resolve(), onError: reject });
  });
  return { id, done };
}

/** Milliseconds between looks at a prefill: rare enough to cost nothing. */
const lookMs = 2;

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, lookMs));
}

function drawTokens(count: number, nVocab: number, seed: number): Int32Array {
  const random = new SeededRandom(seed);
  return Int32Array.from({ length: count }, () => random.integer(nVocab));
}
