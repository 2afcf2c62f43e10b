/** Extraction in threads of its own, with limits of time and memory: a file that is too much for its thread costs that thread, and no other file. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ExtractionLimits } from '../../../extraction/extraction-limits.ts';
import type { ExtractionResult } from '../../../extraction/extraction-result.ts';
import { unpackResult } from '../../../extraction/packed-result.ts';
import type { Log } from '../../../platform/log/log.ts';
import { PoolError } from '../../../platform/pool/pool-error.ts';
import { defineTask } from '../../../platform/pool/task-spec.ts';
import { WorkerPool } from '../../../platform/pool/worker-pool.ts';
import { TenantGate } from './tenant-gate.ts';

export interface ExtractorOptions {
  /** Files that are read at the same time. */
  nThreads: number;
  /** Of one file, MiB. */
  maxMemoryMb: number;
  /** Of one file, from the start of its reading. */
  timeoutMs: number;
  /** Files that may wait, of each tenant and of all. */
  maxQueue: number;
  limits?: Partial<ExtractionLimits>;
  log?: Log;
}

interface ExtractRequest {
  /** As the client named it; it is never used as a path. */
  fileName?: string | undefined;
  /** One tenant never has all threads. */
  tenant: string;
  signal?: AbortSignal | undefined;
}

const task = defineTask<typeof import('../../../../workers/extract-document.ts').run>(
  'extract',
  new URL('../../../../workers/extract-document.ts', import.meta.url),
);

/** What the pool says of a file that needed too much, as what it is: a file that is refused. */
export type ExtractionOutcome =
  | ExtractionResult
  | {
      outcome: 'refused';
      code: 'extraction_timeout' | 'extraction_out_of_memory' | 'extraction_failed';
      detail: string;
      remedy: string;
    };

export class Extractor {
  readonly #options: ExtractorOptions;
  readonly #pool: WorkerPool;
  readonly #gate: TenantGate;

  constructor(options: ExtractorOptions) {
    this.#options = options;
    const { nThreads, maxMemoryMb, maxQueue, log } = options;
    this.#pool = new WorkerPool({ nThreads, maxMemoryMb, maxQueue, log });
    this.#gate = new TenantGate(Math.max(1, nThreads - 1), maxQueue);
  }

  /**
   * @param source a path of the server's own, or the bytes, which are copied.
   * Rejects with PoolError `pool_full` or `pool_closed`, and with the signal's reason.
   */
  async extract(source: string | Uint8Array, { fileName, tenant, signal }: ExtractRequest): Promise<ExtractionOutcome> {
    const { limits, timeoutMs } = this.#options;
    const input = { source, fileName, limits };
    const read = () => this.#pool.run(task, input, { timeoutMs, priority: 'low', signal });
    try {
      return await unpackResult(await this.#gate.run(tenant, signal, read), nextTurn);
    } catch (error) {
      if (error instanceof PoolError && (error.code === 'pool_full' || error.code === 'pool_closed')) throw error;
      if (signal?.aborted) throw error;
      return this.#refusalOf(error);
    }
  }

  /** Ends what runs and waits. */
  async close(limitMs = 0): Promise<void> {
    await this.#pool.close(limitMs);
  }

  #refusalOf(error: unknown): ExtractionOutcome {
    const code = error instanceof PoolError ? error.code : undefined;
    const remedy = 'Split the file into several, or save it in a simpler form.';
    const { timeoutMs, maxMemoryMb, log } = this.#options;
    if (code === 'task_timeout') {
      const detail = `The file could not be read within ${Math.ceil(timeoutMs / 1000)} seconds.`;
      return { outcome: 'refused', code: 'extraction_timeout', detail, remedy };
    }
    if (code === 'task_out_of_memory') {
      const detail = `The file needs more than ${maxMemoryMb} MiB of memory to be read.`;
      return { outcome: 'refused', code: 'extraction_out_of_memory', detail, remedy };
    }
    log?.warn('A document could not be read because of a defect.', { error });
    return {
      outcome: 'refused',
      code: 'extraction_failed',
      detail: 'The file cannot be read because of a defect of the server.',
      remedy,
    };
  }
}
