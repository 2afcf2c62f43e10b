/** Reads long answers in a thread of their own, since a hostile one of two megabytes takes half a second. */
import { PoolError } from '../../../platform/pool/pool-error.ts';
import { defineTask } from '../../../platform/pool/task-spec.ts';
import { WorkerPool } from '../../../platform/pool/worker-pool.ts';
import type { Adapter, Operation } from '../adapters/adapter.ts';
import { AnswerFault, type AnswerPage, readAnswer } from '../answers/read-answer.ts';

const task = defineTask<typeof import('../../../../workers/read-science-answer.ts').run>(
  'read-science-answer',
  new URL('../../../../workers/read-science-answer.ts', import.meta.url),
);

/** Shorter ones are read in less time than a thread takes to be asked. */
const SHORT = 32 * 1024;
const LIMITS = { timeoutMs: 20_000, maxMemoryMb: 256 };
const MOST_WAITING = 1_000;

export class AnswerReader {
  #pool: WorkerPool | undefined;

  /** Throws an AnswerFault. */
  async read(adapter: Adapter, operation: string, text: string, retrievedAt: Date): Promise<AnswerPage> {
    if (text.length < SHORT) return readAnswer(adapter, adapter.operations[operation] as Operation, text, retrievedAt);
    this.#pool ??= new WorkerPool({ nThreads: 1, maxMemoryMb: LIMITS.maxMemoryMb, maxQueue: MOST_WAITING });
    const input = { adapter, operation, text, retrievedAt };
    const result = await this.#pool.run(task, input, { timeoutMs: LIMITS.timeoutMs }).catch((error: unknown) => {
      throw error instanceof PoolError ? new AnswerFault(`the answer could not be read: ${error.message}`) : error;
    });
    if ('page' in result) return result.page;
    throw new AnswerFault(result.fault);
  }

  async close(): Promise<void> {
    await this.#pool?.close(0);
    this.#pool = undefined;
  }
}
