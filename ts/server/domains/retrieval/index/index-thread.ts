/** The index thread. */
import { AskedThread } from '../../../platform/pool/asked-thread.ts';
import { retrievalError } from '../errors.ts';
import type { IndexOperation, IndexOperations } from './index-messages.ts';
import type { VectorNotice, VectorStorageOptions } from './vector-index.ts';

const FILE = new URL('../../../../workers/knowledge-index.ts', import.meta.url);

interface IndexThreadOptions {
  readonly vectors: VectorStorageOptions;
  /** The thread died, and what it held in memory is gone. */
  onLost(error: unknown): void;
  onNotice(notice: VectorNotice): void;
}

export class IndexThread {
  readonly #thread: AskedThread<IndexOperations, VectorNotice>;

  constructor({ vectors, onLost, onNotice }: IndexThreadOptions) {
    const refused = ({ failure }: { failure: string }): Error => new Error(failure);
    this.#thread = new AskedThread({
      file: FILE,
      env: nativeEnvironment(),
      workerData: vectors,
      onLost,
      onNotice,
      unavailable,
      refused,
    });
  }

  /** Again after close(). */
  open(): void {
    this.#thread.open();
  }

  /** Rejects with DomainError `index_unavailable`. */
  async ask<O extends IndexOperation>(operation: O, input: IndexOperations[O]['input']): Promise<IndexOperations[O]['output']> {
    return await this.#thread.ask(operation, input).answer;
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

function unavailable(sentence: string): Error {
  return retrievalError('index_unavailable', sentence, { retryAfterMs: 1_000 });
}

/** All that the thread needs to know of the environment: where the addons lie. */
function nativeEnvironment(): NodeJS.ProcessEnv {
  const folder = process.env['SVC_NATIVE_DIR'];
  return folder === undefined ? {} : { SVC_NATIVE_DIR: folder };
}
