/** What holds of jobs on both databases. Each test opens a database of its own. */
import t, { type Test } from 'tap';
import Type from 'typebox';
import { tenantScope } from '../../storage/index.ts';
import type { Job } from '../job.ts';
import { JobFailedError } from '../job-error.ts';
import type { JobContext } from '../job-kind.ts';
import type { JobsOptions } from '../jobs-options.ts';
import { type OpenJobs, openJobs, type TestDatabase, until, untilState } from './open-jobs.ts';

const red = tenantScope('red');
const blue = tenantScope('blue');
const Input = Type.Object({ n: Type.Integer() });
type Context = JobContext<{ n: number }, unknown>;

/** Rejects when the signal aborts, as a well-behaved job does. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

export function testJobsContract(newDatabase: () => Promise<TestDatabase>): void {
  async function open(t: Test, options: Partial<JobsOptions> = {}): Promise<OpenJobs> {
    const { url, remove } = await newDatabase();
    const opened = await openJobs(t, url, options);
    t.teardown(remove);
    return opened;
  }

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

  testCancellation(open);
  testFairness(open);
  testSteps(open);
  testFollowing(open);
}

type Open = (t: Test, options?: Partial<JobsOptions>) => Promise<OpenJobs>;

function testCancellation(open: Open): void {
  t.test('a queued job is cancelled at once and never runs', async (t) => {
    const { jobs } = await open(t);
    const ran: number[] = [];
    const queue = jobs.define({ name: 'test.note', input: Input, run: async ({ input }) => void ran.push(input.n) });
    const first = await queue.enqueue(red, { n: 1 });
    const second = await queue.enqueue(red, { n: 2 });
    t.match(await jobs.cancel(red, first.id), { state: 'cancelled' });
    t.match(await jobs.cancel(red, first.id), { state: 'cancelled' }, 'again is no error');
    await jobs.start();
    queue.start();
    await untilState(jobs, red, second.id, 'done');
    t.strictSame(ran, [2]);
    t.match(await jobs.cancel(red, second.id), { state: 'done' }, 'what is done stays done');
  });

  t.test('a running job is told, and is cancelled when it stops', async (t) => {
    const { jobs } = await open(t);
    const queue = jobs.define({ name: 'test.wait', input: Input, run: ({ signal }) => aborted(signal) });
    await jobs.start();
    queue.start();
    const { id } = await queue.enqueue(red, { n: 1 });
    await untilState(jobs, red, id, 'running');
    t.match(await jobs.cancel(red, id), { isCancelRequested: true });
    t.match(await untilState(jobs, red, id, 'cancelled'), { isCancelRequested: true, error: undefined });
  });

  t.test('cancelling while jobs start and end leaves each job ended, and run at most once', async (t) => {
    const { jobs } = await open(t, { maxRunning: 8 });
    const starts = new Map<number, number>();
    const queue = jobs.define({
      name: 'test.race',
      input: Input,
      run: async ({ input, signal }) => {
        starts.set(input.n, (starts.get(input.n) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
        if (signal.aborted) throw signal.reason;
      },
    });
    await jobs.start();
    queue.start();
    const all = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const { id } = await queue.enqueue(red, { n });
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
        await jobs.cancel(red, id);
        return id;
      }),
    );
    const ended = await until(
      () => jobs.list(red),
      (list) => list.every(({ state }) => state === 'done' || state === 'cancelled'),
    );
    t.equal(ended.length, all.length);
    t.ok([...starts.values()].every((n) => n === 1));
  });
}

function testFairness(open: Open): void {
  t.test('a tenant with many queued jobs does not delay another tenant’s first', async (t) => {
    const { jobs } = await open(t, { maxRunning: 2 });
    const order: string[] = [];
    const queue = jobs.define({
      name: 'test.turn',
      input: Input,
      run: async ({ scope }) => {
        order.push(scope.tenant);
        await new Promise((resolve) => setTimeout(resolve, 2));
      },
    });
    await Promise.all(Array.from({ length: 1_000 }, (_, n) => queue.enqueue(red, { n })));
    await jobs.start();
    queue.start();
    await until(
      () => order.length,
      (n) => n >= 10,
    );
    const before = order.length;
    const { id } = await queue.enqueue(blue, { n: 1 });
    await untilState(jobs, blue, id, 'done');
    t.ok(order.indexOf('blue') <= before + 4, `started after ${order.indexOf('blue') - before} more`);
  });

  t.test('no more jobs of a kind run than it says, and no more of all than the node takes', async (t) => {
    const { jobs } = await open(t, { maxRunning: 4 });
    let narrow = 0;
    let all = 0;
    const most = { narrow: 0, all: 0 };
    const full = Promise.withResolvers<void>();
    const work = async (isNarrow: boolean) => {
      all += 1;
      if (isNarrow) narrow += 1;
      most.narrow = Math.max(most.narrow, narrow);
      most.all = Math.max(most.all, all);
      if (all === 4) full.resolve();
      await full.promise;
      await new Promise((resolve) => setTimeout(resolve, 3));
      all -= 1;
      if (isNarrow) narrow -= 1;
    };
    const one = jobs.define({ name: 'test.narrow', input: Input, concurrency: 1, run: () => work(true) });
    const two = jobs.define({ name: 'test.wide', input: Input, run: () => work(false) });
    for (const n of [1, 2, 3, 4, 5, 6])
      await Promise.all([one.enqueue(red, { n }), two.enqueue(red, { n }), two.enqueue(blue, { n })]);
    await jobs.start();
    one.start();
    two.start();
    const ended = async () => [...(await jobs.list(red)), ...(await jobs.list(blue))].every(({ state }) => state === 'done');
    await until(ended, (all) => all);
    t.strictSame(most, { narrow: 1, all: 4 });
  });
}

function testSteps(open: Open): void {
  t.test('after a failure a job goes on from its last saved step', async (t) => {
    const { jobs } = await open(t);
    const seen: unknown[] = [];
    const queue = jobs.define({
      name: 'test.steps',
      input: Input,
      step: Type.Object({ done: Type.Integer() }),
      backoffMs: { first: 1, longest: 1 },
      run: async ({ checkpoint, saveStep, attempt }) => {
        seen.push(checkpoint);
        await saveStep({ done: attempt });
        if (attempt < 3) throw new Error('again');
      },
    });
    await jobs.start();
    queue.start();
    const { id } = await queue.enqueue(red, { n: 1 });
    await untilState(jobs, red, id, 'done');
    t.strictSame(seen, [undefined, { done: 1 }, { done: 2 }]);
  });

  t.test('an error in a step that must not be repeated ends the job', async (t) => {
    const { jobs } = await open(t);
    let runs = 0;
    const queue = jobs.define({
      name: 'test.charge',
      input: Input,
      run: async ({ beginStep }) => {
        runs += 1;
        await beginStep('charge');
        throw Object.assign(new Error('the line was cut'), { code: 'line_cut' });
      },
    });
    await jobs.start();
    queue.start();
    const { id } = await queue.enqueue(red, { n: 1 });
    t.match(await untilState(jobs, red, id, 'failed'), { error: { code: 'line_cut' } });
    t.equal(runs, 1);
  });

  t.test('stopping puts what runs back, without counting an attempt, and starting again resumes it', async (t) => {
    const { jobs } = await open(t);
    const log: unknown[] = [];
    let isQuick = false;
    const queue = jobs.define({
      name: 'test.resume',
      input: Input,
      step: Type.Integer(),
      run: async ({ checkpoint, saveStep, signal, attempt }) => {
        log.push([checkpoint, attempt]);
        if (isQuick) return;
        await saveStep(7);
        await aborted(signal);
      },
    });
    await jobs.start();
    queue.start();
    const { id } = await queue.enqueue(red, { n: 1 });
    await until(
      () => log.length,
      (n) => n === 1,
    );
    await jobs.stop();
    t.match(await jobs.get(red, id), { state: 'queued', attempts: 0 });
    isQuick = true;
    await jobs.start();
    await untilState(jobs, red, id, 'done');
    t.strictSame(log, [
      [undefined, 1],
      [7, 1],
    ]);
  });

  t.test('a job that ignores its signal is given back at the limit, and can save nothing more', async (t) => {
    const { jobs } = await open(t);
    const late = Promise.withResolvers<void>();
    const outcome = Promise.withResolvers<unknown>();
    const queue = jobs.define({
      name: 'test.deaf',
      input: Input,
      run: async ({ saveStep }) => {
        await late.promise;
        await saveStep('late').catch(outcome.resolve);
      },
    });
    await jobs.start();
    queue.start();
    const { id } = await queue.enqueue(red, { n: 1 });
    await untilState(jobs, red, id, 'running');
    await queue.stop(20);
    t.match(await jobs.get(red, id), { state: 'queued' });
    late.resolve();
    t.match(await outcome.promise, { code: 'job_lost' });
    t.match(await jobs.get(red, id), { state: 'queued' });
  });
}

function testFollowing(open: Open): void {
  t.test('a follower hears the state, progress with an estimate, and the end', async (t) => {
    const { jobs } = await open(t);
    const go = Promise.withResolvers<void>();
    let now = 1_000_000;
    const queue = jobs.define({
      name: 'test.load',
      input: Input,
      run: async ({ progress }) => {
        await go.promise;
        progress({ done: 0, total: 100, unit: 'bytes' });
        now += 1_000;
        progress({ done: 25, total: 100, unit: 'bytes', message: 'reading' });
        await new Promise((resolve) => setTimeout(resolve, 150));
        return 'loaded';
      },
    });
    await jobs.stop();
    const { id } = await queue.enqueue(red, { n: 1 });
    const heard: Job[] = [];
    const ended = Promise.withResolvers<void>();
    await jobs.follow(red, id, (job) => {
      heard.push(job);
      if (job.state === 'done') ended.resolve();
    });
    await jobs.start();
    queue.start();
    await untilState(jobs, red, id, 'running');
    go.resolve();
    await ended.promise;
    t.strictSame([...new Set(heard.map(({ state }) => state))], ['queued', 'running', 'done']);
    t.ok(heard.some(({ progress }) => progress?.message === 'reading' && progress.done === 25));
    t.match(heard.at(-1), { result: 'loaded' });
    const after: Job[] = [];
    await jobs.follow(red, id, (job) => after.push(job));
    t.match(after, [{ state: 'done' }], 'whoever comes late hears the end');
    t.ok(now > 0);
  });

  t.test('ended jobs are deleted after their retention, others stay', async (t) => {
    let now = 1_000_000;
    const { jobs } = await open(t, { now: () => now, retentionMs: 1_000 });
    const queue = jobs.define({ name: 'test.noop', input: Input, run: async () => undefined });
    const ended = await queue.enqueue(red, { n: 1 });
    await jobs.cancel(red, ended.id);
    const waiting = await queue.enqueue(red, { n: 2 });
    now += 1_001;
    await jobs.start();
    await until(
      () => jobs.list(red),
      (list) => list.length === 1,
    );
    t.match(await jobs.get(red, waiting.id), { state: 'queued' });
  });
}
