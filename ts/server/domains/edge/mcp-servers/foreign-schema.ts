/** Checks values by schemas that other servers wrote, in a thread with a limit: a pattern of theirs may take for ever. */

import { PoolError } from '../../../platform/pool/pool-error.ts';
import { defineTask } from '../../../platform/pool/task-spec.ts';
import { WorkerPool } from '../../../platform/pool/worker-pool.ts';
import type { SchemaFault } from '../../../platform/schema/schema-check.ts';
import { edgeError } from '../errors.ts';

const task = defineTask<typeof import('../../../../workers/check-value.ts').run>(
  'check-value',
  new URL('../../../../workers/check-value.ts', import.meta.url),
);
/** A thread that starts loads the check first. */
const LIMIT_MS = 10_000;
const MAX_MEMORY_MB = 128;
const MAX_WAITING = 100;

export class ForeignSchemas {
  #pool: WorkerPool | undefined;

  /** Undefined: the value fits. Throws `tool_failed` where the schema cannot be applied in time. */
  async findFault(schema: unknown, value: unknown): Promise<SchemaFault | undefined> {
    this.#pool ??= new WorkerPool({ nThreads: 1, maxMemoryMb: MAX_MEMORY_MB, maxQueue: MAX_WAITING });
    try {
      const fault = await this.#pool.run(task, { schema, value }, { timeoutMs: LIMIT_MS });
      return fault === undefined ? undefined : { member: '', sentence: `the arguments do not fit the schema: ${fault}.` };
    } catch (error) {
      const why =
        error instanceof PoolError && error.code === 'task_timeout'
          ? `takes longer than ${LIMIT_MS / 1000} s`
          : 'cannot be applied';
      throw edgeError('tool_failed', `The schema of the tool ${why}.`, { cause: error });
    }
  }

  async close(): Promise<void> {
    await this.#pool?.close(0);
    this.#pool = undefined;
  }
}
