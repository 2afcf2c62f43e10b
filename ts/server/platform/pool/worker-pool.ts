/**
 * Runs JavaScript that is slow or risky in threads, off the event loop. One task a thread: Piscina ends a thread with all that runs in it.
 * The queue is this class's own, because Piscina's has no order by priority and its bound moves with threads that are starting.
 */
import { createRequire } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { Log } from '../log/log.ts';
import type { Counter, Family, Histogram } from '../metrics/metrics.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { PoolError, TaskError } from './pool-error.ts';
import { RunningTask } from './running-task.ts';
import { type TaskPriority, TaskQueue } from './task-queue.ts';
import type { TaskReply } from './task-reply.ts';
import type { TaskFunction, TaskInput, TaskOutput, TaskSpec } from './task-spec.ts';
import { threadLimits } from './thread-limits.ts';

export interface WorkerPoolOptions {
  nThreads: number;
  /** Of each task, MiB: its heap and its array buffers. What native code allocates is not seen. */
  maxMemoryMb: number;
  /** Tasks that may wait while every thread is busy. */
  maxQueue: number;
  log?: Log | undefined;
  /** One pool to a registry: the metrics' names are fixed. */
  metrics?: MetricsRegistry | undefined;
}

interface RunOptions {
  /** From the start of the task, not from its place in the queue. */
  timeoutMs: number;
  priority?: TaskPriority;
  /** Takes a waiting task out of the queue and ends a running one; the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Buffers and ports of the input that move to the thread; the caller loses them once the task starts. */
  transfer?: readonly (ArrayBuffer | MessagePort)[];
}

interface Task {
  readonly spec: TaskSpec<TaskFunction>;
  readonly input: unknown;
  readonly options: RunOptions;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onAbort: () => void;
}

/** A thread without a task for this long ends, and its memory is free. */
const idleThreadMs = 15_000;
/**
 * V8 ends the whole process when one built-in call outgrows the heap limit. Tasks are therefore ended at `maxMemoryMb`, which is
 * checked from outside, and V8's own limit lies this much higher.
 */
const heapHeadroomMb = 1024;
/** A thread inside a built-in or native call cannot be ended before that returns; the process may end without it. */
const terminationMs = 1000;

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  #threads: Piscina | undefined;
  readonly #queue = new TaskQueue<Task>();
  readonly #running = new Map<Task, RunningTask>();
  readonly #metrics: PoolMetrics | undefined;
  #isClosing = false;
  #notifyIdle: () => void = () => {};

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    const read = () => ({ nQueued: this.#queue.size, nBusy: this.#running.size });
    this.#metrics = options.metrics && new PoolMetrics(options.metrics, read);
  }

  /**
   * The task's result. Rejects with PoolError, with TaskError when the task threw, or with the signal's reason.
   * A full queue rejects at once.
   */
  run<Run extends TaskFunction>(spec: TaskSpec<Run>, input: TaskInput<Run>, options: RunOptions): Promise<TaskOutput<Run>> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const task: Task = { spec, input, options, resolve, reject, onAbort: () => this.#abort(task) };
    const refusal = this.#refusal(options);
    if (refusal) this.#fail(task, refusal.error);
    else this.#accept(task);
    return promise as Promise<TaskOutput<Run>>;
  }

  /** Takes no more tasks, waits for the accepted ones up to the limit, then ends them with `pool_closed`. */
  async close(limitMs: number): Promise<void> {
    this.#isClosing = true;
    await waitAtMost(limitMs, this.#idle());
    for (let task = this.#queue.shift(); task; task = this.#queue.shift()) this.#fail(task, closed());
    for (const running of this.#running.values()) running.end(closed());
    if (this.#threads !== undefined) await waitAtMost(terminationMs, this.#threads.destroy());
  }

  /** Made with the first task, and its library loaded then. */
  get #piscina(): Piscina {
    this.#threads ??= this.#open();
    return this.#threads;
  }

  #open(): Piscina {
    const { Piscina: Library } = createRequire(import.meta.url)('piscina') as typeof import('piscina');
    const threads = new Library({
      filename: new URL('./task-runner.ts', import.meta.url).href,
      name: 'runTask',
      minThreads: 0,
      maxThreads: this.#options.nThreads,
      maxQueue: this.#options.nThreads,
      concurrentTasksPerWorker: 1,
      idleTimeout: idleThreadMs,
      // With 'sync' an idle thread's event loop stands still, and what it still closes never closes.
      atomics: 'disabled',
      resourceLimits: { ...threadLimits, maxOldGenerationSizeMb: this.#options.maxMemoryMb + heapHeadroomMb },
      env: {},
      // A thread that is ended while it links a module that was required, and not imported, ends the whole process: Node then asks V8 about
      // a module that was not linked (ModuleWrap::InstantiateSync). Piscina requires first, and imports what it may not require.
      execArgv: ['--no-warnings', '--no-experimental-require-module'],
      recordTiming: false,
    });
    // Without a listener, a thread that dies between two tasks would end the process.
    threads.on('error', (error) => this.#options.log?.warn('A worker thread without a task ended.', { error }));
    return threads;
  }

  #refusal({ signal }: RunOptions): { error: unknown } | undefined {
    if (this.#isClosing) return { error: closed() };
    if (signal?.aborted) return { error: signal.reason };
    const { nThreads, maxQueue } = this.#options;
    if (this.#running.size < nThreads || this.#queue.size < maxQueue) return undefined;
    return { error: new PoolError('pool_full', `${maxQueue} tasks wait for a worker thread already. Try again later.`) };
  }

  #accept(task: Task): void {
    const { signal, priority = 'normal' } = task.options;
    signal?.addEventListener('abort', task.onAbort);
    this.#queue.push(task, priority);
    this.#startNext();
  }

  #abort(task: Task): void {
    const reason: unknown = task.options.signal?.reason;
    if (this.#queue.remove(task)) this.#fail(task, reason);
    else this.#running.get(task)?.end(reason);
  }

  #startNext(): void {
    if (this.#running.size >= this.#options.nThreads) return;
    const task = this.#queue.shift();
    if (task) void this.#start(task);
    else if (this.#running.size === 0) this.#notifyIdle();
  }

  async #start(task: Task): Promise<void> {
    const { spec, options } = task;
    const running = new RunningTask(this.#piscina, spec.name, { ...options, maxMemoryMb: this.#options.maxMemoryMb });
    this.#running.set(task, running);
    const startedMs = performance.now();
    await running
      .run(spec.file, task.input, options.transfer ?? [])
      .finally(() => this.#metrics?.observe(spec.name, (performance.now() - startedMs) / 1000))
      .then(
        (reply) => this.#finish(task, reply),
        (error: unknown) => this.#fail(task, error),
      );
    await running.threadGone;
    this.#running.delete(task);
    this.#startNext();
  }

  #finish(task: Task, reply: TaskReply): void {
    if (reply.ok) {
      task.options.signal?.removeEventListener('abort', task.onAbort);
      task.resolve(reply.value);
      return;
    }
    const { ok: _, ...error } = reply;
    this.#options.log?.debug('A task threw.', { task: task.spec.name, error });
    this.#fail(task, new TaskError(reply.message, reply.code));
  }

  #fail(task: Task, error: unknown): void {
    const { signal } = task.options;
    signal?.removeEventListener('abort', task.onAbort);
    this.#metrics?.countFailure(task.spec.name, error, signal?.aborted === true);
    task.reject(error);
  }

  #idle(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#notifyIdle = resolve;
    });
  }
}

function closed(): PoolError {
  return new PoolError('pool_closed', 'The server is stopping and takes no more tasks.');
}

async function waitAtMost(limitMs: number, done: Promise<void>): Promise<void> {
  const timer = new AbortController();
  const limit = wait(limitMs, undefined, { signal: timer.signal }).catch(() => {});
  await Promise.race([done, limit]);
  timer.abort();
}

/** What /metrics says of the pool. */
class PoolMetrics {
  readonly #seconds: Family<Histogram>;
  readonly #failures: Family<Counter>;

  constructor(registry: MetricsRegistry, read: () => { nQueued: number; nBusy: number }) {
    const queued = registry.gauge('svc_pool_queued_tasks', 'Tasks that wait for a worker thread.').with();
    const busy = registry.gauge('svc_pool_busy_threads', 'Worker threads with a task.').with();
    this.#seconds = registry.histogram('svc_pool_task_seconds', 'Time that tasks ran in a worker thread.', ['task']);
    this.#failures = registry.counter('svc_pool_task_failures_total', 'Tasks without a result, by task and code.', [
      'task',
      'code',
    ]);
    registry.onCollect(() => {
      const { nQueued, nBusy } = read();
      queued.set(nQueued);
      busy.set(nBusy);
    });
  }

  observe(task: string, seconds: number): void {
    this.#seconds.with({ task }).observe(seconds);
  }

  /** Codes of errors that a task threw are its own and could be any: they count as `thrown`, and a caller's abort as `aborted`. */
  countFailure(task: string, error: unknown, isAborted: boolean): void {
    const code = error instanceof PoolError ? error.code : isAborted ? 'aborted' : 'thrown';
    this.#failures.with({ task, code }).add();
  }
}
