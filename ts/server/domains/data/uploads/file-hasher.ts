/** Hashes whole files in a thread of their own: gigabytes would hold up everything else. */
import { defineTask } from '../../../platform/pool/task-spec.ts';
import { WorkerPool } from '../../../platform/pool/worker-pool.ts';

const task = defineTask<typeof import('../../../../workers/hash-file.ts').run>(
  'hash-file',
  new URL('../../../../workers/hash-file.ts', import.meta.url),
);

/** A terabyte from a slow disk. */
const TIMEOUT_MS = 6 * 3_600_000;

export class FileHasher {
  #pool: WorkerPool | undefined;

  hash(path: string): Promise<{ sha256: string; sizeBytes: number }> {
    this.#pool ??= new WorkerPool({ nThreads: 1, maxMemoryMb: 256, maxQueue: 10_000 });
    return this.#pool.run(task, { path }, { timeoutMs: TIMEOUT_MS });
  }

  async close(): Promise<void> {
    await this.#pool?.close(0);
    this.#pool = undefined;
  }
}
