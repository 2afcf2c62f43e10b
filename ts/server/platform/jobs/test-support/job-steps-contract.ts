/** What a job keeps of its way, and what of it is told. */
import type { Test } from 'tap';
import Type from 'typebox';
import { DomainError } from '../../errors/domain-error.ts';
import type { Job } from '../job.ts';
import { aborted, Input, type Open, red } from './contract-bed.ts';
import { until, untilState } from './open-jobs.ts';

export function testSteps(t: Test, open: Open): void {
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

  t.test('a kind may count its attempts from the last saved step, and waits as long as an error says', async (t) => {
    const { jobs } = await open(t);
    const seen: unknown[] = [];
    const queue = jobs.define({
      name: 'test.onward',
      input: Input,
      step: Type.Integer(),
      maxAttempts: 2,
      countsAttemptsFromStep: true,
      backoffMs: { first: 1, longest: 20 },
      run: async (context) => {
        const { checkpoint = 0, attempt, saveStep } = context;
        seen.push([checkpoint, attempt]);
        if (checkpoint < 3) await saveStep(checkpoint + 1);
        seen.push(context.attempt);
        throw new DomainError('not_now', 'Not now.', { retryAfterMs: 3_600_000 });
      },
    });
    await jobs.start();
    queue.start();
    const { id } = await queue.enqueue(red, { n: 1 });
    t.match(await untilState(jobs, red, id, 'failed'), { error: { code: 'not_now' } });
    t.strictSame(seen, [[0, 1], 1, [1, 2], 1, [2, 2], 1, [3, 2], 2]);
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

export function testFollowing(t: Test, open: Open): void {
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
