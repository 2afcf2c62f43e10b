/** What comes and goes beside an engine at work: other models, loads that are given up, and worker threads that are ended in the middle. */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Test } from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { SeededRandom } from '../../../models/random/seeded-random.ts';
import { LlamaModel } from '../../../ts/server/native/llama.ts';
import { type Answer, start } from './model-alone.ts';

/** Loads and closes another model until told to stop; each time it answers the same. Returns how often. */
export async function switchModels(t: Test, isOver: () => boolean): Promise<number> {
  const path = await randomModel({ arch: 'qwen3', shape: 'tiny', seed: 2 });
  const random = new SeededRandom(11);
  const prompt = { kind: 'tokens', tokens: Int32Array.from([1, 400, 500, 600]) } as const;
  let first: Answer | undefined;
  let nTimes = 0;
  for (; nTimes === 0 || !isOver(); nTimes++) {
    const givenUp = giveUpLoad(path, random.integer(30));
    const model = await LlamaModel.load({ path });
    const engine = await model.createEngine({ nCtx: 512, nParallel: 1, nThreads: 1 });
    const answer = await start(engine, { tenant: 'other', prompt }).answer;
    first ??= answer;
    t.strictSame(textOf(answer), textOf(first), 'the same answer each time');
    // The second one is closed in the middle of its work.
    const cut = start(engine, { tenant: 'other', prompt }).answer;
    await Promise.all([engine.close(), model.close(), cut, givenUp]);
  }
  return nTimes;
}

function textOf({ choices }: Answer): string | undefined {
  return choices[0]?.text;
}

async function giveUpLoad(path: string, afterMs: number): Promise<void> {
  const client = new AbortController();
  const load = LlamaModel.load({ path, mmap: false }, { signal: client.signal });
  const ended = load.then(
    (model) => model.close(),
    (error: { code?: string }) => {
      if (error.code !== 'load_aborted') throw error;
    },
  );
  await setTimeout(afterMs);
  client.abort();
  await ended;
}

const phases = ['start', 'loaded', 'token', 'embedding', 'tokenising'] as const;

/** Ends worker threads while they load, decode, embed or tokenise, one after the other, until told to stop. Returns how many. */
export async function crashWorkers(isOver: () => boolean): Promise<number> {
  const random = new SeededRandom(13);
  const path = await randomModel({ arch: 'llama', type: 'q8_0' });
  const file = new URL('generating-worker.ts', import.meta.url);
  const options = { nParallel: 2, nCtx: 512, nThreads: 1 };
  let nTimes = 0;
  for (; nTimes === 0 || !isOver(); nTimes++) {
    const phase = random.pick(phases);
    const worker = new Worker(file, { workerData: { path, options, maxTokens: 400, phase } });
    for (let message: unknown; message !== phase; ) [message] = (await once(worker, 'message')) as unknown[];
    await setTimeout(random.integer(30));
    await worker.terminate();
  }
  return nTimes;
}
