/** One task in a thread, watched for its time and memory. Ending it early costs its thread, and no other task. */
import { once } from 'node:events';
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { PoolError } from './pool-error.ts';
import type { TaskReply } from './task-reply.ts';

const memoryCheckMs = 100;
const bytesPerMb = 1024 * 1024;

interface TaskLimits {
  timeoutMs: number;
  maxMemoryMb: number;
}

export class RunningTask {
  readonly #piscina: Piscina;
  readonly #name: string;
  readonly #limits: TaskLimits;
  readonly #stop = new AbortController();
  readonly #threadId = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #reason: { error: unknown } | undefined;
  #threadGone: Promise<unknown> = Promise.resolve();

  constructor(piscina: Piscina, name: string, limits: TaskLimits) {
    this.#piscina = piscina;
    this.#name = name;
    this.#limits = limits;
  }

  /** Resolves when the thread of a task that was ended has exited: until then it still takes a core. */
  get threadGone(): Promise<unknown> {
    return this.#threadGone;
  }

  /** Rejects with what `end` was given, or with a PoolError when the thread died. */
  async run(file: URL, input: unknown, transfer: readonly (ArrayBuffer | MessagePort)[]): Promise<TaskReply> {
    const { timeoutMs } = this.#limits;
    const late = () => this.end(new PoolError('task_timeout', `The task ${this.#name} did not end within ${timeoutMs} ms.`));
    const timer = setTimeout(late, timeoutMs);
    const memoryCheck = setInterval(() => this.#checkMemory(), memoryCheckMs);
    const message = { file: file.href, input, threadId: this.#threadId };
    try {
      return await this.#piscina.run(message, { transferList: [...transfer], signal: this.#stop.signal });
    } catch (error) {
      throw this.#reason ? this.#reason.error : this.#death(error);
    } finally {
      clearTimeout(timer);
      clearInterval(memoryCheck);
    }
  }

  /** Terminates the thread. The first reason counts. */
  end(error: unknown): void {
    if (this.#reason) return;
    this.#reason = { error };
    const thread = this.#thread();
    // A thread inside a built-in or native call exits when that call returns.
    if (thread) this.#threadGone = once(thread, 'exit');
    this.#stop.abort();
  }

  #thread(): Worker | undefined {
    const id = Atomics.load(this.#threadId, 0);
    return id === 0 ? undefined : this.#piscina.threads.find(({ threadId }) => threadId === id);
  }

  /** Counts array buffers too, which V8's own limit leaves out. Garbage that is not collected yet counts as used. */
  #checkMemory(): void {
    this.#thread()
      ?.getHeapStatistics()
      .then(({ used_heap_size, external_memory }) => {
        if (used_heap_size + external_memory > this.#limits.maxMemoryMb * bytesPerMb) this.end(this.#outOfMemory());
      })
      // The thread ended meanwhile, which run() reports.
      .catch(() => {});
  }

  #outOfMemory(): PoolError {
    return new PoolError('task_out_of_memory', `The task ${this.#name} needed more than ${this.#limits.maxMemoryMb} MiB.`);
  }

  #death(error: unknown): PoolError {
    if ((error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY') return this.#outOfMemory();
    const reason = error instanceof Error ? error.message : String(error);
    return new PoolError('task_failed', `The thread of the task ${this.#name} ended without an answer: ${reason}`);
  }
}
