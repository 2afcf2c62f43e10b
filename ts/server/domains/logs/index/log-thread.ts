/** The server's end of the line to a thread of collected logs. A thread that dies fails what was asked of it; the next question starts another one. */
import { Worker } from 'node:worker_threads';
import { threadLimits } from '../../../platform/pool/thread-limits.ts';
import { logsError } from '../errors.ts';
import type { LogOperation, LogOperations, LogThreadReply, LogThreadRequest, TailNotice } from './log-messages.ts';

const FILE = new URL('../../../../workers/log-index.ts', import.meta.url);

interface Waiting {
  resolve(output: never): void;
  reject(error: Error): void;
}

interface LogThreadOptions {
  /** The folder of the index. */
  folder: string;
  onNotice(notice: TailNotice): void;
  /** The thread died; what followed lines there follows no more. */
  onLost(error: unknown): void;
}

export class LogThread {
  readonly #options: LogThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(options: LogThreadOptions) {
    this.#options = options;
  }

  /** Again after close(). */
  open(): void {
    this.#isClosed = false;
  }

  /** Rejects with DomainError `invalid_query` or `logs_unavailable`, or with the signal's reason. */
  async ask<O extends LogOperation>(
    operation: O,
    input: LogOperations[O]['input'],
    signal?: AbortSignal,
  ): Promise<LogOperations[O]['output']> {
    if (this.#isClosed) throw unavailable('The node is stopping.');
    signal?.throwIfAborted();
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<LogOperations[O]['output']>();
    this.#waiting.set(id, { resolve, reject });
    const worker = this.#worker ?? this.#start();
    // It holds nothing that must be finished: only while it is asked something, the process may not end for want of other work.
    worker.ref();
    worker.postMessage({ id, operation, input } satisfies LogThreadRequest);
    const cancel = (): void => {
      void this.ask('cancel', { search: id }).catch(() => undefined);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    return promise.finally(() => signal?.removeEventListener('abort', cancel));
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#isClosed = true;
    this.#worker = undefined;
    this.#failAll('The node is stopping.');
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(FILE, {
      execArgv: ['--no-warnings'],
      env: {},
      workerData: { folder: this.#options.folder },
      resourceLimits: threadLimits,
    });
    worker.on('message', (message: LogThreadReply | { notice: TailNotice }) => {
      if ('notice' in message) this.#options.onNotice(message.notice);
      else this.#take(message);
    });
    worker.on('error', (error) => this.#lose(worker, error));
    worker.on('exit', (code) => this.#lose(worker, new Error(`the thread ended with ${code}`)));
    this.#worker = worker;
    return worker;
  }

  #take(reply: LogThreadReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) this.#worker?.unref();
    if (!('failure' in reply)) waiting?.resolve(reply.output as never);
    else if (reply.position === undefined) waiting?.reject(unavailable(`The copy could not be read: ${reply.failure}`));
    else
      waiting?.reject(
        logsError('invalid_query', `\`q\` at character ${reply.position + 1}: ${reply.failure}.`, {
          param: 'q',
          extra: { position: reply.position },
        }),
      );
  }

  #lose(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#options.onLost(error);
    this.#failAll('The thread of the index had to be started again; ask again.');
  }

  #failAll(sentence: string): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(unavailable(sentence));
  }
}

function unavailable(sentence: string): Error {
  return logsError('logs_unavailable', sentence, { retryAfterMs: 1_000 });
}
