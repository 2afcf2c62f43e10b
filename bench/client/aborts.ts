/**
 * How soon a slot is free after its client went away. All slots but one are held by streams, the last one by the victim; a probe
 * waits behind it. What counts is the probe's first token after the abort, less what the same probe takes with a slot free.
 */
import type { AbortLoad } from '../load/load.ts';
import { readUsage } from '../process-usage.ts';
import { quantile } from '../statistics.ts';
import type { Sample } from '../trial.ts';
import { shapedBody } from './chat-body.ts';
import { ChatRequest, sendChat } from './chat-request.ts';
import type { Target } from './connection.ts';
import type { Scenario } from './scenario.ts';
import { sleep, waitUntil, within } from './wait.ts';

const holder = { ownWords: 20, maxTokens: 7_500 };
const victim = { ownWords: 20, maxTokens: 3_000 };
const longPrompt = { ownWords: 5_000, maxTokens: 3_000 };
const probe = { ownWords: 8, maxTokens: 1 };
const startLimitMs = 30_000;
/** Time for a request that waits to reach the server's queue. */
const arrivalMs = 60;

export const runAborts: Scenario<AbortLoad> = async ({ target, pid, seed }, load) => {
  const stage = new Stage(target, seed);
  await stage.hold(load.slots - 1);
  const freeMs: number[] = [];
  for (let i = 0; i < 3; i++) freeMs.push((await sendChat(target, shapedBody(probe, seed, 500 + i))).ttftMs);
  const freedMs: number[] = [];
  for (let i = 0; i < load.victims; i++) freedMs.push(await stage.abortVictim(load, i));
  stage.clear();
  return {
    probeFreeMs: quantile(freeMs, 0.5),
    slotFreedMs: Math.max(...freedMs) - quantile(freeMs, 0.5),
    ...(await measureIdling(pid)),
  };
};

class Stage {
  readonly #target: Target;
  readonly #seed: number;
  readonly #holders: ChatRequest[] = [];

  constructor(target: Target, seed: number) {
    this.#target = target;
    this.#seed = seed;
  }

  async hold(count: number): Promise<void> {
    const first = this.#holders.length;
    for (let i = 0; i < count; i++) this.#holders.push(this.#start(holder, first + i));
    const all = this.#holders;
    if (!(await waitUntil(() => all.every(({ clock }) => clock.nFrames > 0), startLimitMs)))
      throw new Error('the streams that hold the slots did not start');
  }

  clear(): void {
    for (const request of this.#holders) request.abort();
  }

  /** Milliseconds from the abort to the probe's first token. */
  async abortVictim({ state, answerTimeoutMs }: AbortLoad, index: number): Promise<number> {
    const own = 1_000 + index * 10;
    if (state === 'queued') return this.#abortQueued(own, answerTimeoutMs);
    const request =
      state === 'gathered'
        ? this.#start({ ...victim, body: { stream: false, stream_options: undefined } }, own)
        : this.#start(state === 'prefill' ? longPrompt : victim, own);
    if (state === 'decode') await waitUntil(() => request.clock.nFrames > 5, startLimitMs);
    else await sleep(state === 'prefill' ? 20 : arrivalMs);
    return this.#abortBefore(request, own, answerTimeoutMs);
  }

  /** A queued victim holds no slot: what must not happen is that it is served when one comes free. A holder leaves to free one. */
  async #abortQueued(own: number, answerTimeoutMs: number): Promise<number> {
    await this.hold(1);
    const queued = this.#start(victim, own);
    await sleep(arrivalMs);
    queued.abort();
    const holder = this.#holders.pop();
    return holder ? this.#abortBefore(holder, own, answerTimeoutMs) : Number.NaN;
  }

  async #abortBefore(request: ChatRequest, own: number, answerTimeoutMs: number): Promise<number> {
    const waiting = this.#start(probe, own + 1);
    await sleep(arrivalMs);
    const abortedAt = performance.now();
    request.abort();
    const answer = await within(waiting.answer, answerTimeoutMs);
    waiting.abort();
    return answer ? performance.now() - abortedAt : answerTimeoutMs;
  }

  #start(shape: Parameters<typeof shapedBody>[0], own: number): ChatRequest {
    return new ChatRequest(this.#target, shapedBody(shape, this.#seed, own));
  }
}

/** A server whose clients are all gone has nothing to compute. */
async function measureIdling(pid: number): Promise<Sample> {
  await sleep(200);
  const before = readUsage(pid).cpuSeconds;
  await sleep(500);
  return { cpuForTheGoneMs: (readUsage(pid).cpuSeconds - before) * 1_000 };
}
