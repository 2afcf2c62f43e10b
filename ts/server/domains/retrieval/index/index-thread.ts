/** The server's end of the line to the index thread. A thread that dies fails what was asked of it; the next question starts another one. */
import { Worker } from 'node:worker_threads';
import { threadLimits } from '../../../platform/pool/thread-limits.ts';
import { retrievalError } from '../errors.ts';
import type { IndexNotice, IndexOperation, IndexOperations, IndexReply, IndexRequest } from './index-messages.ts';
import type { VectorNotice, VectorStorageOptions } from './vector-index.ts';

const FILE = new URL('../../../../workers/knowledge-index.ts', import.meta.url);

interface Waiting {
  readonly resolve: (output: never) => void;
  readonly reject: (error: Error) => void;
}

interface IndexThreadOptions {
  readonly vectors: VectorStorageOptions;
  /** The thread died, and what it held in memory is gone. */
  onLost(error: unknown): void;
  onNotice(notice: VectorNotice): void;
}

export class IndexThread {
  #worker: Worker | undefined;
  #isClosed = false;
  #lastId = 0;
  readonly #waiting = new Map<number, Waiting>();
  readonly #options: IndexThreadOptions;

  constructor(options: IndexThreadOptions) {
    this.#options = options;
  }

  /** Again after close(). */
  open(): void {
    this.#isClosed = false;
  }

  /** Rejects with DomainError `index_unavailable`. */
  async ask<O extends IndexOperation>(operation: O, input: IndexOperations[O]['input']): Promise<IndexOperations[O]['output']> {
    if (this.#isClosed) throw unavailable(STOPPING);
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<IndexOperations[O]['output']>();
    this.#waiting.set(id, { resolve, reject });
    const request: IndexRequest = { id, operation, input };
    const worker = this.#worker ?? this.#start();
    // It holds nothing that must be finished: only while it is asked something, the process may not end for want of other work.
    worker.ref();
    worker.postMessage(request);
    return promise;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#isClosed = true;
    this.#worker = undefined;
    this.#failAll(STOPPING);
    await worker?.terminate();
  }

  #start(): Worker {
    const workerData = this.#options.vectors;
    const worker = new Worker(FILE, {
      execArgv: ['--no-warnings'],
      env: nativeEnvironment(),
      workerData,
      resourceLimits: threadLimits,
    });
    worker.on('message', (message: IndexReply | IndexNotice) => {
      if ('notice' in message) this.#options.onNotice(message.notice);
      else this.#take(message);
    });
    worker.on('error', (error) => this.#lose(worker, error));
    worker.on('exit', (code) => this.#lose(worker, new Error(`the thread ended with ${code}`)));
    this.#worker = worker;
    return worker;
  }

  #take(reply: IndexReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) this.#worker?.unref();
    if ('failure' in reply) waiting?.reject(new Error(reply.failure));
    else waiting?.resolve(reply.output as never);
  }

  #lose(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#options.onLost(error);
    this.#failAll('The index had to be started anew; ask again.');
  }

  #failAll(sentence: string): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(unavailable(sentence));
  }
}

const STOPPING = 'The node is stopping.';

function unavailable(sentence: string): Error {
  return retrievalError('index_unavailable', sentence, { retryAfterMs: 1_000 });
}

/** All that the thread needs to know of the environment: where the addons lie. */
function nativeEnvironment(): NodeJS.ProcessEnv {
  const folder = process.env['SVC_NATIVE_DIR'];
  return folder === undefined ? {} : { SVC_NATIVE_DIR: folder };
}
