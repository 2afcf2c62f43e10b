/**
 * Streams that go on without an end, and large requests beside them: by how much the streams' gaps exceed the median gap of the same
 * streams alone. A thread makes and sends the bodies, so that this one times the frames as they come.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LargeBodyLoad } from '../load/load.ts';
import type { Sample } from '../trial.ts';
import { shapedBody } from './chat-body.ts';
import { ChatRequest } from './chat-request.ts';
import type { Target } from './connection.ts';
import type { BodyToMake, SentBody } from './large-body-sender.ts';
import type { Scenario } from './scenario.ts';
import { at } from './summary.ts';
import { sleep, waitUntil } from './wait.ts';

const shape = { ownWords: 8, maxTokens: 1_800 };
const startLimitMs = 60_000;
/** Work that a body leaves behind, collecting its memory above all. */
const settleMs = 300;

export const runLargeBodies: Scenario<LargeBodyLoad> = async ({ target, seed }, load) => {
  const streams = Array.from({ length: load.streams }, (_, index) => new EndlessStream(target, seed, index));
  if (!(await waitUntil(() => streams.every(({ nFrames }) => nFrames > 0), startLimitMs)))
    throw new Error('the streams did not start');
  const sender = new Worker(new URL('./large-body-sender.ts', import.meta.url), { workerData: target });
  await once(sender, 'online');
  await sleep(1_000);
  const idle = await gapsDuring(streams, () => sleep(load.idleSeconds * 1_000));
  const idleP50Ms = at(idle, 0.5);
  const sample: Sample = { idleP50Ms, idleP99Ms: at(idle, 0.99), idleMaxMs: at(idle, 1), nFailed: 0, worstDelayMs: 0 };
  for (const sizeMb of load.sizesMb) {
    for (const kind of load.bodies) {
      const gaps: number[] = [];
      sender.postMessage({ kind, sizeMb } satisfies BodyToMake);
      await once(sender, 'message');
      for (let nth = 0; nth < load.times; nth++) {
        gaps.push(
          ...(await gapsDuring(streams, async () => {
            sender.postMessage('send');
            const [{ status, ms }] = (await once(sender, 'message')) as [SentBody];
            sample[`${kind}${sizeMb}MbStatus`] = status;
            sample[`${kind}${sizeMb}MbAnswerMs`] = ms;
            if (status === 0 || status >= 500) sample['nFailed'] = (sample['nFailed'] ?? 0) + 1;
            await sleep(settleMs);
          })),
        );
      }
      sample[`${kind}${sizeMb}MbDelayP99Ms`] = at(gaps, 0.99) - idleP50Ms;
      sample[`${kind}${sizeMb}MbDelayMaxMs`] = at(gaps, 1) - idleP50Ms;
      sample['worstDelayMs'] = Math.max(sample['worstDelayMs'] ?? 0, at(gaps, 1) - idleP50Ms);
    }
  }
  for (const stream of streams) stream.stop();
  await sender.terminate();
  return sample;
};

async function gapsDuring(streams: readonly EndlessStream[], work: () => Promise<unknown>): Promise<number[]> {
  for (const stream of streams) stream.takeGaps();
  await work();
  return streams.flatMap((stream) => stream.takeGaps());
}

/** One answer after another; the time between two of them is no gap. */
class EndlessStream {
  nFrames = 0;
  readonly #target: Target;
  readonly #seed: number;
  readonly #index: number;
  #gaps: number[] = [];
  #nAnswers = 0;
  #request: ChatRequest | undefined;
  #isStopped = false;

  constructor(target: Target, seed: number, index: number) {
    this.#target = target;
    this.#seed = seed;
    this.#index = index;
    void this.#run();
  }

  /** Gaps that ended since the last call. */
  takeGaps(): number[] {
    const gaps = this.#gaps;
    this.#gaps = [];
    return gaps;
  }

  stop(): void {
    this.#isStopped = true;
    this.#request?.abort();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      let nSeen = 0;
      const own = this.#index + 100 * this.#nAnswers++;
      this.#request = new ChatRequest(this.#target, shapedBody(shape, this.#seed, own), {
        onFrames: (clock) => {
          this.nFrames = clock.nFrames;
          this.#gaps.push(...clock.gapsMs.slice(nSeen));
          nSeen = clock.gapsMs.length;
        },
      });
      const { status } = await this.#request.answer;
      // A refusal, of which there should be none, is not repeated at once.
      if (status !== 200) await sleep(100);
    }
  }
}
