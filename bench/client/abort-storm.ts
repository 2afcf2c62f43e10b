/** Requests that go away at random moments, in every state, while survivors stream to their end. */
import { SeededRandom } from '../../models/random/seeded-random.ts';
import type { AbortStormLoad } from '../load/load.ts';
import { shapedBody } from './chat-body.ts';
import { ChatRequest, sendChat } from './chat-request.ts';
import type { Target } from './connection.ts';
import type { Scenario } from './scenario.ts';
import { isServed, summarise } from './summary.ts';
import { sleep } from './wait.ts';

/** Aborts fall anywhere from the queue through prefill to decoding. */
const longestLifeMs = 120;

export const runAbortStorm: Scenario<AbortStormLoad> = async ({ target, seed }, load) => {
  const { clients, ...shape } = load.survivors;
  const startedAt = performance.now();
  const survivors = Array.from({ length: clients }, (_, client) => sendChat(target, shapedBody(shape, seed, client)));
  const each = Math.ceil(load.aborts / load.concurrency);
  await Promise.all(Array.from({ length: load.concurrency }, (_, index) => abortAtRandom(target, seed, index, each)));
  const answers = await Promise.all(survivors);
  const damaged = answers.filter((answer) => !isServed(answer) || answer.nCompletionTokens !== shape.maxTokens);
  return {
    ...summarise(answers, (performance.now() - startedAt) / 1_000),
    nAborts: each * load.concurrency,
    survivorsDamaged: damaged.length,
  };
};

async function abortAtRandom(target: Target, seed: number, index: number, count: number): Promise<void> {
  const random = new SeededRandom(seed + index * 7_919);
  for (let i = 0; i < count; i++) {
    const shape = { ownWords: 4 + random.integer(400), maxTokens: 200 };
    const gathered = random.next() < 0.3 ? { body: { stream: false, stream_options: undefined } } : {};
    const request = new ChatRequest(target, shapedBody({ ...shape, ...gathered }, seed, 100_000 + index * 1_000 + i));
    await sleep(random.next() * longestLifeMs);
    request.abort();
  }
}
