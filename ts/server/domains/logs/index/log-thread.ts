/** A thread of collected logs: one indexes, another searches and follows. */
import { AskedThread } from '../../../platform/pool/asked-thread.ts';
import { logsError } from '../errors.ts';
import type { LogOperation, LogOperations, LogThreadFailure, TailNotice } from './log-messages.ts';

const FILE = new URL('../../../../workers/log-index.ts', import.meta.url);

interface LogThreadOptions {
  /** The folder of the index. */
  folder: string;
  /** Empty: there is no store beside the files. */
  storeUrl: string;
  onNotice(notice: TailNotice): void;
  /** The thread died; what followed lines there follows no more. */
  onLost(error: unknown): void;
}

export class LogThread {
  readonly #thread: AskedThread<LogOperations, TailNotice, LogThreadFailure>;

  constructor({ folder, storeUrl, onNotice, onLost }: LogThreadOptions) {
    this.#thread = new AskedThread({
      file: FILE,
      env: {},
      workerData: { folder, storeUrl },
      onNotice,
      onLost,
      unavailable,
      refused,
    });
  }

  /** Again after close(). */
  open(): void {
    this.#thread.open();
  }

  /** Rejects with DomainError `invalid_query` or `logs_unavailable`, or with the signal's reason. */
  async ask<O extends LogOperation>(
    operation: O,
    input: LogOperations[O]['input'],
    signal?: AbortSignal,
  ): Promise<LogOperations[O]['output']> {
    signal?.throwIfAborted();
    const { id, answer } = this.#thread.ask(operation, input);
    if (signal === undefined) return await answer;
    const cancelled = Promise.withResolvers<never>();
    const cancel = (): void => {
      void this.ask('cancel', { search: id }).catch(() => undefined);
      cancelled.reject(signal.reason as Error);
    };
    signal.addEventListener('abort', cancel, { once: true });
    return await Promise.race([answer, cancelled.promise]).finally(() => signal.removeEventListener('abort', cancel));
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

function refused({ failure, position }: LogThreadFailure): Error {
  if (position === undefined) return unavailable(`The lines could not be read: ${failure}`);
  return logsError('invalid_query', `\`q\` at character ${position + 1}: ${failure}.`, { param: 'q', extra: { position } });
}

function unavailable(sentence: string): Error {
  return logsError('logs_unavailable', sentence, { retryAfterMs: 1_000 });
}
