/** Open loop: requests arrive at random times whatever the server does with them. */
import { SeededRandom } from '../../models/random/seeded-random.ts';
import type { PoissonLoad } from '../load/load.ts';
import { shapedBody } from './chat-body.ts';
import { type ChatAnswer, ChatRequest } from './chat-request.ts';
import type { Scenario } from './scenario.ts';
import { at, meetsSlo, slo, summarise } from './summary.ts';
import { sleep } from './wait.ts';

/** What has not begun by then has missed its SLO anyway, and what has begun gets the time to end. */
const graceMs = slo.ttftMs + 2_000;

export const runPoisson: Scenario<PoissonLoad> = async ({ target, seed }, load) => {
  const random = new SeededRandom(seed);
  const answers: ChatAnswer[] = [];
  const requests: ChatRequest[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + load.seconds * 1_000;
  const rate = load.rate.perSecond ?? 0;
  for (let dueAt = startedAt; ; ) {
    dueAt += random.exponential(rate) * 1_000;
    if (dueAt > endsAt) break;
    await sleep(dueAt - performance.now());
    const request = new ChatRequest(target, shapedBody(load, seed, requests.length), { dueAt });
    requests.push(request);
    void request.answer.then((answer) => answers.push(answer));
  }
  const allEnded = Promise.all(requests.map(({ answer }) => answer));
  await Promise.race([allEnded, sleep(endsAt + graceMs - performance.now())]);
  for (const request of requests) request.abort();
  return { ...summarise(answers, load.seconds), ...describeRefusals(answers, requests.length, load.seconds) };
};

/** A refusal is no failure here: it is the answer that an overloaded server owes. */
function describeRefusals(answers: readonly ChatAnswer[], nOffered: number, seconds: number) {
  const refused = answers.filter(({ status }) => status === 429);
  const failed = answers.filter(({ status }) => status !== 429 && status !== 200);
  const nHonest = refused.filter(({ retryAfter }) => Number(retryAfter) > 0).length;
  return {
    nRequests: nOffered,
    nFailed: failed.length,
    nUnfinished: nOffered - answers.length,
    offeredPerSecond: nOffered / seconds,
    goodputPerSecond: answers.filter(meetsSlo).length / seconds,
    nRefused: refused.length,
    refusalP50Ms: at(
      refused.map(({ headMs }) => headMs),
      0.5,
    ),
    refusalP99Ms: at(
      refused.map(({ headMs }) => headMs),
      0.99,
    ),
    /** Of those refused, how many were told when to come back; NaN when nobody was refused. */
    retryAfterShare: nHonest / refused.length,
  };
}
