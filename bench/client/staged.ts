/** Streams that run, and requests that arrive among them. */
import type { StagedLoad } from '../load/load.ts';
import type { Sample } from '../trial.ts';
import { shapedBody } from './chat-body.ts';
import { type ChatAnswer, ChatRequest } from './chat-request.ts';
import type { Scenario } from './scenario.ts';
import { at, isServed, summarise } from './summary.ts';
import { sleep, waitUntil } from './wait.ts';

const startLimitMs = 60_000;
/** The first tokens of a stream still mix with the others' prompts. */
const warmFrames = 20;

export const runStaged: Scenario<StagedLoad> = async ({ target, seed }, { background, arrivals }) => {
  const startedAt = performance.now();
  const streams = Array.from({ length: background?.clients ?? 0 }, (_, client) =>
    background ? new ChatRequest(target, shapedBody(background, seed, client)) : never(),
  );
  if (!(await waitUntil(() => streams.every(({ clock }) => clock.nFrames >= warmFrames), startLimitMs)))
    throw new Error('the background streams did not start');
  const firstAt = performance.now();
  const arrived = await Promise.all(
    arrivals.map(async ({ afterMs, ...shape }, index) => {
      await sleep(firstAt + afterMs - performance.now());
      return new ChatRequest(target, shapedBody(shape, seed, 10_000 + index)).answer;
    }),
  );
  const lastTokenAt = Math.max(
    firstAt,
    ...arrived.map((answer, index) => firstAt + (arrivals[index]?.afterMs ?? 0) + answer.ttftMs),
  );
  const finished = await Promise.all(streams.map(({ answer }) => answer));
  const makespanMs = performance.now() - startedAt;
  return {
    ...summarise([...finished, ...arrived], makespanMs / 1_000),
    makespanMs,
    ...describeArrivals(
      arrivals.map(({ label }) => label),
      arrived,
    ),
    ...describeStreams(streams, firstAt, arrivals.length > 0 ? lastTokenAt : Number.POSITIVE_INFINITY),
  };
};

/** Answers with the same label are described together. */
function describeArrivals(labels: readonly string[], answers: readonly ChatAnswer[]): Sample {
  const entries = [...new Set(labels)].flatMap((label) => {
    const own = answers.filter((answer, index) => labels[index] === label && isServed(answer)).map(({ ttftMs }) => ttftMs);
    return [
      [`${label}TtftP50Ms`, at(own, 0.5)],
      [`${label}TtftMaxMs`, at(own, 1)],
    ];
  });
  return Object.fromEntries(entries);
}

/** The gaps of the running streams while the arrivals waited for their first token. */
function describeStreams(streams: readonly ChatRequest[], from: number, until: number): Sample {
  const gaps = streams.flatMap(({ clock }) =>
    clock.gapsMs.filter((gap, index) => {
      const endedAt = clock.gapEndsAt[index] ?? 0;
      return endedAt > from && endedAt - gap < until;
    }),
  );
  return {
    streamItlP50Ms: at(gaps, 0.5),
    streamItlP99Ms: at(gaps, 0.99),
    streamWorstGapMs: at(gaps, 1),
    nStreamGaps: gaps.length,
  };
}

function never(): never {
  throw new Error('no background was asked for');
}
