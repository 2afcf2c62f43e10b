/** Which job runs when: those that are cancelled, and those of several tenants. */
import type { Test } from 'tap';
import { random } from '../../../../../test/test-support/seed.ts';
import { aborted, blue, Input, type Open, red } from './contract-bed.ts';
import { until, untilState } from './open-jobs.ts';

export function testCancellation(t: Test, open: Open): void {
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
        await new Promise((resolve) => setTimeout(resolve, random.next() * 4));
        if (signal.aborted) throw signal.reason;
      },
    });
    await jobs.start();
    queue.start();
    const all = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const { id } = await queue.enqueue(red, { n });
        await new Promise((resolve) => setTimeout(resolve, random.next() * 20));
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

export function testFairness(t: Test, open: Open): void {
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
    const { id } = await queue.enqueue(blue, { n: 1 });
    const before = order.length;
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
