import { getEventListeners } from 'node:events';
import t, { type Test } from 'tap';
import { MetricsRegistry } from '../metrics/registry.ts';
import { type PoolError, TaskError } from './pool-error.ts';
import { defineTask } from './task-spec.ts';
import type { run } from './test-support/acting-task.ts';
import { WorkerPool, type WorkerPoolOptions } from './worker-pool.ts';

const acting = defineTask<typeof run>('acting', new URL('./test-support/acting-task.ts', import.meta.url));
const options = { timeoutMs: 60_000 };

function open(t: Test, changes: Partial<WorkerPoolOptions> = {}): WorkerPool {
  const pool = new WorkerPool({ nThreads: 2, maxMemoryMb: 128, maxQueue: 16, ...changes });
  t.teardown(() => pool.close(0));
  return pool;
}

interface Gate {
  cell: Int32Array;
  open(): void;
}

/** A task that waits at it holds its thread until it opens. */
function createGate(): Gate {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  return {
    cell,
    open: () => {
      Atomics.store(cell, 0, 1);
      Atomics.notify(cell, 0);
    },
  };
}

t.test('a task answers with its result', async (t) => {
  const pool = open(t);
  t.strictSame(await pool.run(acting, { act: 'echo', value: { a: [1, 'x'] } }, options), { a: [1, 'x'] });
});

t.test('buffers move to the thread and back', async (t) => {
  const pool = open(t);
  const buffer = new ArrayBuffer(1024);
  const result = await pool.run(acting, { act: 'move', buffer }, { ...options, transfer: [buffer] });
  t.equal(buffer.byteLength, 0, 'the caller lost its buffer');
  t.match(result, { size: 1024, buffer: { byteLength: 1024 } });
});

t.test('an error keeps message and code, and not the stack of the thread', async (t) => {
  const pool = open(t);
  const error: unknown = await pool
    .run(acting, { act: 'throw', message: 'no such page', code: 'page_missing' }, options)
    .catch((e) => e);
  t.ok(error instanceof TaskError);
  t.match(error, { message: 'no such page', code: 'page_missing' });
  t.notMatch((error as Error).stack, /acting-task/);
  await t.rejects(pool.run(acting, { act: 'throw', message: 'x' }, options), { code: 'task_failed' });
});

t.test('a task sees no environment', async (t) => {
  t.strictSame(await open(t).run(acting, { act: 'environment' }, options), []);
});

const deaths = [
  { act: 'spin', code: 'task_timeout', timeoutMs: 300 },
  { act: 'grow', code: 'task_out_of_memory' },
  { act: 'buffers', code: 'task_out_of_memory' },
  { act: 'exit', code: 'task_failed' },
  { act: 'uncaught', code: 'task_failed' },
  { act: 'unclonable', code: 'task_failed' },
] as const;

for (const { act, code, ...changes } of deaths) {
  t.test(`a task that ends by '${act}' is ${code}, and the tasks beside and behind it complete`, async (t) => {
    const pool = open(t);
    const gate = createGate();
    const beside = pool.run(acting, { act: 'wait', gate: gate.cell }, options);
    const dying = pool.run(acting, { act }, { ...options, ...changes });
    const behind = [1, 2, 3].map((value) => pool.run(acting, { act: 'echo', value }, options));
    await t.rejects(dying, { name: 'PoolError', code });
    t.strictSame(await Promise.all(behind), [1, 2, 3]);
    gate.open();
    t.equal(await beside, 'waited');
  });
}

t.test('one built-in call over the limit leaves the process alive', async (t) => {
  const pool = open(t, { nThreads: 1, maxMemoryMb: 64 });
  const outcome: unknown = await pool.run(acting, { act: 'parse' }, options).catch((error: PoolError) => error.code);
  t.ok(outcome === 2_000_001 || outcome === 'task_out_of_memory', 'it ends before the next check, or is ended by it');
  t.equal(await pool.run(acting, { act: 'echo', value: 1 }, options), 1);
});

t.test('deaths one after the other do not wear the pool out', async (t) => {
  const pool = open(t);
  for (let i = 0; i < 5; i++) {
    await Promise.all([1, 2].map(() => t.rejects(pool.run(acting, { act: 'exit' }, options), { code: 'task_failed' })));
  }
  t.equal(await pool.run(acting, { act: 'echo', value: 1 }, options), 1);
});

t.test('a full queue refuses at once', async (t) => {
  const pool = open(t, { nThreads: 1, maxQueue: 1 });
  const gate = createGate();
  const accepted = [1, 2].map(() => pool.run(acting, { act: 'wait', gate: gate.cell }, options));
  await t.rejects(pool.run(acting, { act: 'echo', value: 1 }, options), { code: 'pool_full' });
  gate.open();
  t.strictSame(await Promise.all(accepted), ['waited', 'waited']);
});

t.test('waiting tasks start by priority', async (t) => {
  const pool = open(t, { nThreads: 1 });
  const gate = createGate();
  const first = pool.run(acting, { act: 'wait', gate: gate.cell }, options);
  const order: unknown[] = [];
  const rest = (['low', 'normal', 'high'] as const).map((priority) =>
    pool.run(acting, { act: 'echo', value: priority }, { ...options, priority }).then((value) => order.push(value)),
  );
  gate.open();
  await Promise.all([first, ...rest]);
  t.strictSame(order, ['high', 'normal', 'low']);
});

t.test('an abort takes a waiting task out of the queue', async (t) => {
  const pool = open(t, { nThreads: 1, maxQueue: 1 });
  const gate = createGate();
  const first = pool.run(acting, { act: 'wait', gate: gate.cell }, options);
  const abort = new AbortController();
  const waiting = pool.run(acting, { act: 'spin' }, { ...options, signal: abort.signal });
  abort.abort(new Error('the client went away'));
  await t.rejects(waiting, { message: 'the client went away' });
  const next = pool.run(acting, { act: 'echo', value: 'next' }, options);
  gate.open();
  t.strictSame(await Promise.all([first, next]), ['waited', 'next']);
});

t.test('an abort ends a running task', async (t) => {
  const pool = open(t, { nThreads: 1 });
  const abort = new AbortController();
  const running = pool.run(acting, { act: 'spin' }, { ...options, signal: abort.signal });
  setImmediate(() => abort.abort(new Error('the client went away')));
  await t.rejects(running, { message: 'the client went away' });
  t.equal(await pool.run(acting, { act: 'echo', value: 1 }, options), 1);
});

t.test('a task that was aborted before it came never starts, and a finished one leaves no listener', async (t) => {
  const pool = open(t);
  await t.rejects(pool.run(acting, { act: 'spin' }, { ...options, signal: AbortSignal.abort(new Error('early')) }), {
    message: 'early',
  });
  const { signal } = new AbortController();
  await pool.run(acting, { act: 'echo', value: 1 }, { ...options, signal });
  t.equal(getEventListeners(signal, 'abort').length, 0);
});

t.test('close waits for what was accepted', async (t) => {
  const pool = open(t, { nThreads: 1 });
  const gate = createGate();
  const accepted = [
    pool.run(acting, { act: 'wait', gate: gate.cell }, options),
    pool.run(acting, { act: 'echo', value: 'late' }, options),
  ];
  const closed = pool.close(60_000);
  await t.rejects(pool.run(acting, { act: 'echo', value: 1 }, options), { code: 'pool_closed' });
  gate.open();
  await closed;
  t.strictSame(await Promise.all(accepted), ['waited', 'late']);
});

t.test('close ends what runs and waits when its limit is over', async (t) => {
  const pool = open(t, { nThreads: 1 });
  const results = [1, 2].map(() => pool.run(acting, { act: 'spin' }, options));
  const rejected = Promise.all(results.map((result) => t.rejects(result, { code: 'pool_closed' })));
  await pool.close(50);
  await rejected;
});

t.test('metrics tell the queue, the busy threads, the time and the failures', async (t) => {
  const metrics = new MetricsRegistry();
  const pool = open(t, { nThreads: 1, metrics });
  const gate = createGate();
  const tasks = [1, 2].map(() => pool.run(acting, { act: 'wait', gate: gate.cell }, options));
  t.match(metrics.expose(), /svc_pool_queued_tasks 1\n[\s\S]*svc_pool_busy_threads 1\n/);
  gate.open();
  await Promise.all(tasks);
  await t.rejects(pool.run(acting, { act: 'exit' }, options));
  await t.rejects(pool.run(acting, { act: 'throw', message: 'x', code: 'anything' }, options));
  const text = metrics.expose();
  t.match(text, 'svc_pool_task_seconds_count{task="acting"} 4');
  t.match(text, 'svc_pool_task_failures_total{task="acting",code="task_failed"} 1');
  t.match(text, 'svc_pool_task_failures_total{task="acting",code="thrown"} 1');
});
