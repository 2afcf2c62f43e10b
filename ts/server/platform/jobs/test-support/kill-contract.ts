/** What holds of jobs when their process is killed at any moment, on both databases. SVC_TEST_KILLS sets how many times. */
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { random } from '../../../../../test/test-support/seed.ts';
import { killRounds } from '../../storage/test-support/kill-rounds.ts';
import type { TestDatabase } from './open-jobs.ts';
import type { WorkerLine } from './step-worker.ts';
import { checkJobs, startWorker } from './worker-process.ts';

const nKills = killRounds();
const JOBS_A_LIFE = 10;
const LONGEST_LIFE_MS = 150;
/** A life of the process, its start included, on a busy machine. */
const LIFE_LIMIT_MS = 5_000;

export function testKills(newDatabase: () => Promise<TestDatabase>): void {
  t.setTimeout(60_000 + nKills * LIFE_LIMIT_MS);
  t.test(`after ${nKills} kills no acknowledged step ran twice, and no job is lost`, async (t) => {
    const { url, remove } = await newDatabase();
    t.teardown(remove);
    const lines: WorkerLine[] = [];
    for (let i = 0; i < nKills; i += 1) {
      const { child, output } = startWorker(t, [url, 'node-1', String(JOBS_A_LIFE)]);
      await output.find(({ enqueued }) => enqueued !== undefined);
      await wait(random.next() * LONGEST_LIFE_MS);
      child.kill('SIGKILL');
      await output.ended;
      lines.push(...output.lines);
    }
    const last = startWorker(t, [url, 'node-1']);
    last.child.stdin?.end();
    await last.output.ended;
    lines.push(...last.output.lines);
    await checkJobs(t, url, lines);
  });
}
