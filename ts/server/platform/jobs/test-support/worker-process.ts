/** Processes that run step-worker.ts, and what must hold of all that they printed. */
import { spawn } from 'node:child_process';
import type { Test } from 'tap';
import { random } from '../../../../../test/test-support/seed.ts';
import { tenantScope } from '../../storage/index.ts';
import { LineReader } from '../../storage/test-support/line-reader.ts';
import type { Job } from '../job.ts';
import { openJobs } from './open-jobs.ts';
import type { WorkerLine } from './step-worker.ts';

const program = new URL('./step-worker.ts', import.meta.url).pathname;

export function startWorker(t: Test, args: readonly string[]) {
  // Each life has other times, which follow from the seed of the test.
  const env = { ...process.env, SVC_TEST_SEED: String(random.integer(2 ** 31)) };
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'], env });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, output: new LineReader<WorkerLine>(child) };
}

/** After the last process has ended in order: `lines` are those of all, in the order in which they came. */
export async function checkJobs(t: Test, url: string, lines: readonly WorkerLine[]): Promise<void> {
  const jobs = await listAll(t, url);
  t.strictSame(listRepeated(lines), [], 'no acknowledged step began again');
  const lost = lines.filter(({ enqueued }) => enqueued !== undefined && !jobs.has(enqueued));
  t.strictSame(lost, [], 'what was acknowledged as enqueued is there');
  const repeatable = [...jobs.values()].filter(({ kind }) => kind === 'test.repeatable');
  t.ok(repeatable.length > 0 && repeatable.every(({ state, result }) => state === 'done' && result === 6));
  const charged = lines.flatMap(({ charged }) => charged ?? []);
  t.equal(new Set(charged).size, charged.length, 'what must not be done twice was not');
  const charging = [...jobs.values()].filter(({ kind }) => kind === 'test.charging');
  const unknown = charging.filter(({ state, error }) => state === 'failed' && error?.code === 'step_outcome_unknown');
  t.ok(
    charging.every((job) => job.state === 'done' || unknown.includes(job)),
    'each was done, or says that nobody knows',
  );
  t.comment(`${repeatable.length + charging.length} jobs, ${unknown.length} of unknown outcome`);
}

async function listAll(t: Test, url: string): Promise<Map<string, Job>> {
  const { jobs } = await openJobs(t, url);
  const all = new Map<string, Job>();
  for (let before: string | undefined; ; ) {
    const page = await jobs.list(tenantScope('red'), { before });
    for (const job of page) all.set(job.id, job);
    before = page.at(-1)?.id;
    if (before === undefined) return all;
  }
}

/** Steps that began although they had been acknowledged before. */
function listRepeated(lines: readonly WorkerLine[]): string[] {
  const acknowledged = new Set<string>();
  return lines.flatMap((line) => {
    if (line.acknowledged !== undefined) acknowledged.add(line.acknowledged);
    return line.began !== undefined && acknowledged.has(line.began) ? [line.began] : [];
  });
}
