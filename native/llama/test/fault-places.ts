/** Lets something fail at many places of a run, one after the other, and says what came of it. */
import type { Test } from 'tap';
import { iterations } from '../../../test/test-support/iterations.ts';
import type { Faults } from './faults.ts';

/** 'done', 'out_of_memory', or what else something ended with. */
export type Outcome = string;

/** Longer than anything here takes, also with a sanitizer. */
const settleLimitMs = 20_000;
const neverSettled = 'never settled';

/** What a promise came to; `neverSettled` for one that has not ended after a while. */
export async function outcomeOf(start: () => Promise<unknown>): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  const never = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve(neverSettled), settleLimitMs);
  });
  const settled = (async () => start())().then(
    () => 'done',
    (error: { code?: string }) => (error.code === 'out_of_memory' ? error.code : `${error.code}: ${error}`),
  );
  const outcome = await Promise.race([settled, never]);
  clearTimeout(timer);
  return outcome;
}

/** The outcome of what is made, and what was made unless that failed. */
export async function tried<T>(make: () => T | Promise<T>): Promise<[Outcome, (T | undefined)?]> {
  const made: T[] = [];
  const outcome = await outcomeOf(async () => made.push(await make()));
  return [outcome, made[0]];
}

interface Places {
  kind: 'allocation' | 'thread';
  /** How many places in `npm test`; SVC_TEST_FAULT_PLACES=100000 tries all that there are. */
  nPlaces: number;
  /** Requests in a row that fail; each of these at a place of its own. */
  bursts?: readonly number[];
  /** How many of a run's outcomes one failure may hurt. */
  mostHurt?: number;
  /** What is wrong behind a run, when nothing fails any more; undefined: nothing. */
  findFault?: (run: number) => Promise<string | undefined>;
}

/**
 * Runs `work` with failures at each of the places, spread over as many as a run without any has. `work` gets a number that no other run
 * has, so that it can be new to every cache. It must be done without failures, and end in any case.
 */
export async function failAtPlaces(
  t: Test,
  faults: Faults,
  { kind, nPlaces, bursts = [1, 4], mostHurt = Number.POSITIVE_INFINITY, findFault }: Places,
  work: (run: number) => Promise<Outcome[]>,
): Promise<void> {
  let nRuns = 0;
  /** What came of it with failures, how many requests there were, and what is wrong afterwards. */
  const runWith = async (first: number, count: number) => {
    const run = nRuns++;
    faults.arm(kind, first, count);
    const outcomes = await work(run);
    const nSeen = faults.seen();
    faults.arm(kind, 1, 0);
    return { outcomes, nSeen, fault: await findFault?.(run) };
  };
  await runWith(1, 0);
  const healthy = await runWith(1, 0);
  t.strictSame([...new Set(healthy.outcomes), healthy.fault], ['done', undefined], 'without failures');

  const nPlacesTried = Math.min(iterations(nPlaces, 2 * nPlaces, 'SVC_TEST_FAULT_PLACES'), healthy.nSeen);
  const outcomes = new Map<Outcome, number>();
  const faulty: string[] = [];
  for (const burst of bursts) {
    for (let i = 0; i < nPlacesTried; i++) {
      const first = 1 + Math.floor((i * healthy.nSeen) / nPlacesTried);
      const ended = await runWith(first, burst);
      for (const outcome of ended.outcomes) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      const hurt = ended.outcomes.filter((outcome) => outcome !== 'done');
      const isWrong = hurt.some((outcome) => outcome !== 'out_of_memory') || (burst === 1 && hurt.length > mostHurt);
      if (isWrong || ended.fault) faulty.push(`${burst} from ${first}: ${ended.outcomes.join(', ')}; ${ended.fault ?? ''}`);
      // What stays behind would show in every run after it, slowly.
      if (ended.outcomes.includes(neverSettled) || ended.fault) break;
    }
  }
  t.comment(`${kind}: ${nPlacesTried} of ${healthy.nSeen} places, ${JSON.stringify([...outcomes])}`);
  t.strictSame(faulty, [], 'what fails says that memory lacks, and hurts nothing else');
  const last = await runWith(1, 0);
  t.strictSame([...new Set(last.outcomes), last.fault], ['done', undefined], 'then all is well');
}
