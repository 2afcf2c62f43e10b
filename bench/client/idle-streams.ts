/**
 * Thousands of open requests that get nothing yet, because the active streams hold every slot: what they cost the streams, the probes
 * and the memory. The active streams' speed is compared with that of streams in the same depth of context without the others.
 */
import type { IdleStreamLoad } from '../load/load.ts';
import { readUsage } from '../process-usage.ts';
import type { Sample } from '../trial.ts';
import { shapedBody } from './chat-body.ts';
import { ChatRequest } from './chat-request.ts';
import { Connection, type Target } from './connection.ts';
import { sendPlain } from './plain-request.ts';
import type { Scenario } from './scenario.ts';
import { at } from './summary.ts';
import { sleep, waitUntil } from './wait.ts';

const active = { ownWords: 8, maxTokens: 15_000 };
const idle = { ownWords: 8, maxTokens: 8 };
/** Deeper than the active streams get, but for those of the tiny model, whose cells weigh nothing. */
const deep = { ownWords: 1_500, maxTokens: 1 };
/** Connections opened in a row; below the usual backlog of a listening socket. */
const burst = 10;
const startLimitMs = 60_000;
const healthEveryMs = 20;
const healthTimeoutMs = 2_000;

export const runIdleStreams: Scenario<IdleStreamLoad> = async ({ target, pid, seed }, load) => {
  await touchCells(target, seed, load.active);
  const streams = await startStreams(target, seed, load.active);
  await sleep(300);
  const before = readUsage(pid);
  const health = new HealthProbe(target);
  const waiting = new IdleRequests(target, shapedBody(idle, seed, 99));
  await waiting.open(load.idle, load.openPerSecond);
  await sleep(load.settleSeconds * 1_000);
  health.beginOpen();
  const from = depth(streams);
  const fromAt = performance.now();
  await sleep(load.seconds * 1_000);
  const [until, seconds] = [depth(streams), (performance.now() - fromAt) / 1_000];
  const after = readUsage(pid);
  health.endOpen();
  const counts = waiting.counts();
  waiting.abort();
  for (const stream of streams) stream.abort();
  // Probed like the others: the probes themselves take time.
  const alone = await measureAlone(target, seed, load.active, from, until);
  const latencies = await health.stop();
  return {
    ...counts,
    ...latencies,
    framesPerSecond: (until - from) / seconds,
    framesPerSecondAlone: alone,
    depthFrames: from / load.active,
    rssGrowthMiB: (after.rssBytes - before.rssBytes) / 2 ** 20,
  };
};

/** KV cells become resident when they are first written: long prompts do that beforehand, or they would count as the connections'. */
async function touchCells(target: Target, seed: number, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, index) => new ChatRequest(target, shapedBody(deep, seed, 1_000 + index)).answer),
  );
}

async function startStreams(target: Target, seed: number, count: number, moreWords = 0): Promise<ChatRequest[]> {
  const shape = { ...active, ownWords: active.ownWords + moreWords };
  const streams = Array.from({ length: count }, (_, index) => new ChatRequest(target, shapedBody(shape, seed, index)));
  if (await waitUntil(() => streams.every(({ clock }) => clock.nFrames > 0), startLimitMs)) return streams;
  throw new Error('the active streams did not start');
}

/** Waits until the server is rid of the others, then streams as many frames again, behind prompts as long as those answers were. */
async function measureAlone(target: Target, seed: number, count: number, from: number, until: number): Promise<number> {
  const streams = await startStreams(target, seed, count, Math.round(from / count));
  const [reached, reachedAt] = [depth(streams), performance.now()];
  await waitUntil(() => depth(streams) - reached >= until - from, startLimitMs);
  const rate = ((depth(streams) - reached) * 1_000) / (performance.now() - reachedAt);
  for (const stream of streams) stream.abort();
  return rate;
}

function depth(streams: readonly ChatRequest[]): number {
  return streams.reduce((sum, { clock }) => sum + clock.nFrames, 0);
}

class IdleRequests {
  readonly #target: Target;
  readonly #body: string;
  readonly #connections: Connection[] = [];
  #nOpened = 0;
  #nEnded = 0;

  constructor(target: Target, body: string) {
    this.#target = target;
    this.#body = body;
  }

  async open(count: number, perSecond: number): Promise<void> {
    const startedAt = performance.now();
    const request = { method: 'POST', path: '/v1/chat/completions', body: this.#body } as const;
    while (this.#connections.length < count) {
      for (let i = 0; i < burst && this.#connections.length < count; i++) {
        const handler = { onHead: () => this.#nOpened++, onBody: () => undefined, onEnd: () => this.#nEnded++ };
        this.#connections.push(new Connection(this.#target, request, handler));
      }
      await sleep(startedAt + (this.#connections.length * 1_000) / perSecond - performance.now());
    }
  }

  counts(): Sample {
    return { nIdle: this.#connections.length, nIdleWithHeaders: this.#nOpened, nIdleEnded: this.#nEnded };
  }

  abort(): void {
    for (const connection of this.#connections) connection.abort();
  }
}

/** Asks /health at a steady pace; an answer that does not come in time counts as that time. */
class HealthProbe {
  readonly #ms: number[] = [];
  #nTimeouts = 0;
  #isStopped = false;
  #open = { from: 0, until: 0 };
  readonly #done: Promise<void>;

  constructor(target: Target) {
    this.#done = this.#run(target);
  }

  /** All are open from here on. */
  beginOpen(): void {
    this.#open.from = this.#ms.length;
  }

  endOpen(): void {
    this.#open.until = this.#ms.length;
  }

  async stop(): Promise<Sample> {
    this.#isStopped = true;
    await this.#done;
    const { from, until } = this.#open;
    const [opening, open] = [this.#ms.slice(0, from), this.#ms.slice(from, until)];
    return {
      healthP50Ms: at(open, 0.5),
      healthP99Ms: at(open, 0.99),
      healthWhileOpeningP99Ms: at(opening, 0.99),
      nHealth: this.#ms.length,
      nHealthTimeouts: this.#nTimeouts,
    };
  }

  async #run(target: Target): Promise<void> {
    while (!this.#isStopped) {
      const { status, ms } = await sendPlain(target, { method: 'GET', path: '/health' }, healthTimeoutMs);
      this.#ms.push(ms);
      if (status === 0) this.#nTimeouts++;
      await sleep(healthEveryMs - ms);
    }
  }
}
