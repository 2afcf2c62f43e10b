/** Reads large request bodies in worker threads: parsing one on the event loop would hold up every stream. */
import type { MessagePort } from 'node:worker_threads';
import { PoolError, type PoolErrorCode } from '../../pool/pool-error.ts';
import type { TaskPriority } from '../../pool/task-queue.ts';
import type { WorkerPool } from '../../pool/worker-pool.ts';
import { HttpError } from '../errors.ts';
import type { ThreadReading } from '../route.ts';
import type { BodyBudget, HeldBytes } from './body-collector.ts';
import { errorOf } from './body-refusal.ts';
import { BodyAborted } from './body-stream.ts';

/** Larger bodies are read in a thread. A smaller one is parsed in less time than its way there and back takes. */
export const LARGE_BODY_BYTES = 256 * 1024;
/** Bodies above these sizes let others go first. */
const NORMAL_BYTES = 4 * 1024 * 1024;
const LOW_BYTES = 32 * 1024 * 1024;

const TIMEOUT_MS = 60_000;

/** Reads the body of one exchange. */
export class LargeBody {
  readonly #pool: WorkerPool;
  readonly #budget: BodyBudget;
  readonly #abort = new AbortController();
  #ports: readonly MessagePort[] = [];

  constructor(pool: WorkerPool, budget: BodyBudget) {
    this.#pool = pool;
    this.#budget = budget;
  }

  /** Takes the body's buffers. Throws what the reader throws, 503 when too many bodies wait, or 413 for one that takes too much. */
  async read({ task, reader }: ThreadReading, body: HeldBytes): Promise<unknown> {
    const { sizeBytes } = body;
    if (!this.#budget.reserve(sizeBytes)) throw busy();
    const { bytes, transfer } = body.move();
    const options = { timeoutMs: TIMEOUT_MS, priority: priorityOf(sizeBytes), signal: this.#abort.signal, transfer };
    try {
      const result = await this.#pool.run(task, { reader, bytes }, options);
      if (!result.ok) throw errorOf(result.refusal);
      this.#ports = result.ports;
      // The client went away while the result was on its way.
      if (this.#abort.signal.aborted) this.close();
      return result.value;
    } catch (error) {
      throw error instanceof PoolError ? refusalOf(error) : error;
    } finally {
      body.drop();
      this.#budget.release(sizeBytes);
    }
  }

  /** The exchange is over: ends the reading, and frees what of the result was not used. May be called again. */
  close(): void {
    this.#abort.abort(new BodyAborted());
    for (const port of this.#ports) port.close();
    this.#ports = [];
  }
}

/** Refuses a body that arrives while as many are read as may be. */
export function busy(): HttpError {
  return new HttpError(503, 'server_busy', 'Too many large request bodies are arriving at once; retry shortly.', {
    headers: { 'retry-after': '1' },
  });
}

function priorityOf(sizeBytes: number): TaskPriority {
  if (sizeBytes > LOW_BYTES) return 'low';
  return sizeBytes > NORMAL_BYTES ? 'normal' : 'high';
}

function refusalOf(error: PoolError): HttpError | PoolError {
  const refusals: Partial<Record<PoolErrorCode, HttpError>> = {
    pool_full: busy(),
    pool_closed: new HttpError(503, 'draining', 'The server is shutting down; retry on another node or in a moment.', {
      headers: { 'retry-after': '5' },
    }),
    task_timeout: tooCostly(`takes longer than ${TIMEOUT_MS / 1000} seconds to read`),
    task_out_of_memory: tooCostly('takes too much memory to read'),
  };
  // A thread that ends for another reason is a defect: 500, and the log has it.
  return refusals[error.code] ?? error;
}

function tooCostly(how: string): HttpError {
  return new HttpError(413, 'body_too_costly', `The request body ${how}; send less in one request.`, { extra: { status: 413 } });
}
