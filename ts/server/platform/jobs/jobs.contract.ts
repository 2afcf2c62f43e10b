/** What holds of jobs on both databases. Each test opens a database of its own. */
import type { Test } from 'tap';
import { type NewDatabase, onEachDatabase } from '../storage/test-support/each-database.ts';
import { JobFailedError } from './job-error.ts';
import type { JobContext } from './job-kind.ts';
import { blue, Input, type Open, red } from './test-support/contract-bed.ts';
import { testFollowing, testSteps } from './test-support/job-steps-contract.ts';
import { testCancellation, testFairness } from './test-support/job-turns-contract.ts';
import { openJobs, until, untilState } from './test-support/open-jobs.ts';

type Context = JobContext<{ n: number }, unknown>;

function testJobsContract(t: Test, newDatabase: NewDatabase): void {
  const open: Open = async (t, options = {}) => {
    const { url, remove } = await newDatabase();
    t.teardown(remove);
    const opened = await openJobs(t, url, options);
    return opened;
  };

  t.test('a job runs and keeps its result', async (t) => {
    const { jobs } = await open(t);
    const doubled = jobs.define({ name: 'test.double', input: Input, run: async ({ input }) => ({ doubled: input.n * 2 }) });
    await jobs.start();
    doubled.start();
    const { id, state } = await doubled.enqueue(red, { n: 4 }, { owner: 'ann' });
    t.equal(state, 'queued');
    const job = await untilState(jobs, red, id, 'done');
    t.match(job, { kind: 'test.double', tenant: 'red', owner: 'ann', input: { n: 4 }, result: { doubled: 8 }, attempts: 1 });
    t.ok((job.startedAt ?? 0) >= job.createdAt && (job.endedAt ?? 0) >= (job.startedAt ?? 0));
  });

  t.test('jobs that were created are a series of the tenant, by the hour, as long as ended ones are kept', async (t) => {
    const HOUR_MS = 3_600_000;
    const begin = 500_000 * HOUR_MS;
    let now = begin + 5;
    const { jobs } = await open(t, { now: () => now });
    const noop = jobs.define({ name: 'test.noop', input: Input, run: async () => undefined });
    const other = jobs.define({ name: 'test.other', input: Input, run: async () => undefined });
    const rates = jobs.rates();
    t.strictSame(await rates.list(red), []);
    await noop.enqueue(red, { n: 1 });
    await noop.enqueue(blue, { n: 1 });
    now = begin + 2 * HOUR_MS + 5;
    await noop.enqueue(red, { n: 1 });
    await other.enqueue(red, { n: 1 });
    const read = async (name: string, scope = red) => (await rates.read(scope, name, 0))?.map(({ value }) => value);
    t.strictSame(
      (await rates.list(red)).map(({ name, unit }) => `${name} ${unit}`),
      ['jobs.created jobs', 'jobs.created.test.noop jobs', 'jobs.created.test.other jobs'],
    );
    t.strictSame(await read('jobs.created'), [1, 0, 2]);
    t.strictSame(await read('jobs.created.test.noop'), [1, 0, 1]);
    t.strictSame(await read('jobs.created.test.other', blue), undefined);
    t.strictSame(await rates.read(red, 'jobs.created', begin + HOUR_MS), [{ ts: begin + 2 * HOUR_MS, value: 2 }]);
    now = begin + 7 * 24 * HOUR_MS + 6;
    t.equal(
      (await read('jobs.created'))?.reduce((sum, n) => sum + n),
      2,
      'an hour of which jobs may be deleted is left out',
    );
  });

  t.test('what cannot become a job is refused with a reason', async (t) => {
    const { jobs } = await open(t, { maxQueuedPerTenant: 2 });
    const queue = jobs.define({ name: 'test.noop', input: Input, run: async () => undefined });
    await t.rejects(jobs.enqueue(red, 'test.other', {}), { code: 'unknown_job_kind', remedy: /test.noop/ });
    await t.rejects(jobs.enqueue(red, 'test.noop', { n: 'x' }), { code: 'invalid_job_input', message: /`n` must be/ });
    await t.rejects(queue.enqueue(red, { n: 1 }, { owner: 'a\0b' }), { code: 'invalid_job_input' });
    await queue.enqueue(red, { n: 1 });
    await queue.enqueue(red, { n: 2 });
    await t.rejects(queue.enqueue(red, { n: 3 }), { code: 'job_queue_full' });
    await queue.enqueue(blue, { n: 1 });
    t.throws(() => jobs.define({ name: 'test.noop', input: Input, run: async () => undefined }), /twice/);
  });

  t.test('a tenant sees its own jobs alone, newest first, in pages', async (t) => {
    const { jobs } = await open(t);
    const queue = jobs.define({ name: 'test.noop', input: Input, run: async () => undefined });
    const other = jobs.define({ name: 'test.other', input: Input, run: async () => undefined });
    const ids: string[] = [];
    for (const n of [0, 1, 2, 3, 4]) ids.unshift((await queue.enqueue(red, { n }, { owner: n < 2 ? 'ann' : 'bob' })).id);
    const foreign = await other.enqueue(blue, { n: 9 });
    const list = async (filter: Parameters<typeof jobs.list>[1]) => (await jobs.list(red, filter)).map(({ id }) => id);
    t.strictSame(await list({}), ids);
    t.strictSame(await list({ limit: 2 }), ids.slice(0, 2));
    t.strictSame(await list({ limit: 2, before: ids[1] }), ids.slice(2, 4));
    t.strictSame(await list({ owner: 'ann' }), ids.slice(3));
    t.strictSame(await list({ kind: 'test.other' }), []);
    t.strictSame(await list({ state: 'done' }), []);
    await t.rejects(jobs.get(red, foreign.id), { code: 'job_not_found' });
    await t.rejects(jobs.cancel(red, foreign.id), { code: 'job_not_found' });
    await t.rejects(
      jobs.follow(red, foreign.id, () => t.fail()),
      { code: 'job_not_found' },
    );
    t.match(await jobs.get(blue, foreign.id), { state: 'queued' });
  });

  t.test('a key names one open job of a tenant and kind', async (t) => {
    const { jobs } = await open(t);
    const queue = jobs.define({ name: 'test.noop', input: Input, run: async () => undefined });
    const same = await Promise.all([1, 2, 3].map((n) => queue.enqueue(red, { n }, { key: 'k' })));
    t.equal(new Set(same.map(({ id }) => id)).size, 1);
    t.not((await queue.enqueue(blue, { n: 1 }, { key: 'k' })).id, same[0]?.id);
    await jobs.start();
    queue.start();
    await untilState(jobs, red, same[0]?.id ?? '', 'done');
    t.not((await queue.enqueue(red, { n: 1 }, { key: 'k' })).id, same[0]?.id, 'after its end a new one is made');
  });

  t.test('a failing job is tried again later and later, then fails', async (t) => {
    let now = 1_000_000;
    const { jobs } = await open(t, { now: () => now });
    const attempts: number[] = [];
    const queue = jobs.define({
      name: 'test.fail',
      input: Input,
      maxAttempts: 3,
      backoffMs: { first: 1_000, longest: 60_000 },
      run: async ({ attempt }) => {
        attempts.push(attempt);
        throw Object.assign(new Error('the host is down'), { code: 'host_down', remedy: 'wait' });
      },
    });
    await jobs.start();
    queue.start();
    const { id } = await queue.enqueue(red, { n: 1 });
    const failedOnce = await until(
      () => jobs.get(red, id),
      (job) => job.state === 'queued' && job.attempts === 1,
    );
    t.ok(failedOnce.runAfter >= now + 500 && failedOnce.runAfter <= now + 1_000, 'between half the wait and all of it');
    t.match(failedOnce.error, { code: 'host_down', message: 'the host is down', remedy: 'wait' });
    now = failedOnce.runAfter - 1;
    const later = await queue.enqueue(blue, { n: 1 }, { runAfter: now + 1 });
    now = failedOnce.runAfter;
    const failedTwice = await until(
      () => jobs.get(red, id),
      (job) => job.state === 'queued' && job.attempts === 2,
    );
    t.ok(failedTwice.runAfter >= now + 1_000 && failedTwice.runAfter <= now + 2_000);
    now = failedTwice.runAfter;
    t.match(await untilState(jobs, red, id, 'failed'), { attempts: 3, error: { code: 'host_down' }, endedAt: now });
    t.strictSame(
      attempts.filter((_, i) => i < 2),
      [1, 1],
      'nothing ran before its time',
    );
    await until(
      () => jobs.get(blue, later.id),
      (job) => job.attempts > 1,
    );
  });

  t.test('a job that says it failed for good is not tried again, and unknown errors keep their text to the log', async (t) => {
    const { jobs, lines } = await open(t);
    const run = async ({ input }: Context) => {
      if (input.n === 1) throw new JobFailedError('not_a_model', 'It is no model.', 'Name another.');
      throw new TypeError('secret of the machine');
    };
    const queue = jobs.define({ name: 'test.fail', input: Input, maxAttempts: 1, run });
    await jobs.start();
    queue.start();
    const first = await queue.enqueue(red, { n: 1 });
    t.match(await untilState(jobs, red, first.id, 'failed'), { error: { code: 'not_a_model', message: 'It is no model.' } });
    const second = await queue.enqueue(red, { n: 2 });
    t.match(await untilState(jobs, red, second.id, 'failed'), { error: { code: 'internal' } });
    t.ok(lines.some((line) => line.includes('secret of the machine')));
  });

  t.test('the jobs of a tenant are cancelled and erased, and no others', async (t) => {
    const { jobs } = await open(t);
    const began = Promise.withResolvers<void>();
    const run = async ({ signal }: Context) => {
      began.resolve();
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
    };
    const queue = jobs.define({ name: 'test.wait', input: Input, concurrency: 1, run });
    const running = await queue.enqueue(red, { n: 1 });
    await jobs.start();
    queue.start();
    await began.promise;
    await queue.enqueue(red, { n: 2 });
    const foreign = await queue.enqueue(blue, { n: 3 });
    await until(
      () => jobs.eraseTenant(red).catch(({ code }: { code: string }) => code),
      (outcome) => outcome === undefined,
    );
    t.strictSame(await jobs.list(red), []);
    await t.rejects(jobs.get(red, running.id), { code: 'job_not_found' });
    t.match(await jobs.get(blue, foreign.id), { id: foreign.id });
  });

  t.test('a job of a node runs on that node alone, and fails once the node is gone for long', async (t) => {
    const started = 1_000_000;
    let [node, now] = ['node-1', started];
    const { jobs } = await open(t, { nodeId: () => node, now: () => now, nodeGoneMs: 60_000 });
    const run = async () => node;
    const local = jobs.define({ name: 'test.local', input: Input, isOfNode: true, run });
    const free = jobs.define({ name: 'test.free', input: Input, run });
    const startAs = async (name: string) => {
      await jobs.stop();
      node = name;
      await jobs.start();
      for (const queue of [local, free]) queue.start();
    };
    const own = await local.enqueue(red, { n: 1 }, { key: 'k' });
    const any = await free.enqueue(red, { n: 1 });
    await startAs('node-2');
    t.match(await untilState(jobs, red, any.id, 'done'), { result: 'node-2' });
    const same = await local.enqueue(red, { n: 1 }, { key: 'k' });
    t.not(same.id, own.id, 'a key is of the node as well');
    t.match(await untilState(jobs, red, same.id, 'done'), { result: 'node-2' });
    t.match(await jobs.get(red, own.id), { state: 'queued' });
    await startAs('node-1');
    t.match(await untilState(jobs, red, own.id, 'done'), { result: 'node-1' });

    await jobs.stop();
    const late = await local.enqueue(red, { n: 2 });
    now = started + 59_000;
    await startAs('node-2');
    t.match(await jobs.get(red, late.id), { state: 'queued' });
    now = started + 61_000;
    await startAs('node-2');
    t.match(await untilState(jobs, red, late.id, 'failed'), { error: { code: 'node_gone', remedy: /another node/ } });
  });

  testCancellation(t, open);
  testFairness(t, open);
  testSteps(t, open);
  testFollowing(t, open);
}

onEachDatabase(testJobsContract);
