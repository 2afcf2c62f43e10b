/** What holds of jobs when their process is killed at any moment, on both databases. SVC_TEST_KILLS sets how many times. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { random } from '../../../../test/test-support/seed.ts';
import { type NewDatabase, onEachDatabase } from '../storage/test-support/each-database.ts';
import { killRounds } from '../storage/test-support/kill-rounds.ts';
import type { WorkerLine } from './test-support/step-worker.ts';
import { checkJobs, startWorker } from './test-support/worker-process.ts';

const nKills = killRounds();
const JOBS_A_LIFE = 10;
const LONGEST_LIFE_MS = 150;
/** A life of the process, its start included, on a busy machine. */
const LIFE_LIMIT_MS = 5_000;

function testKills(t: Test, newDatabase: NewDatabase): void {
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

onEachDatabase(testKills);
