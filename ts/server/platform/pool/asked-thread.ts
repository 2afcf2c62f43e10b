/**
 * The server's end of the line to a thread that keeps something in memory and answers questions about it. A thread that dies fails what was
 * asked of it; the next question starts another one.
 */
import { Worker } from 'node:worker_threads';
import { threadLimits } from './thread-limits.ts';

/** What the thread does, by name. */
type OperationsOf<T> = { readonly [Operation in keyof T]: { readonly input: unknown; readonly output: unknown } };

interface Failure {
  readonly failure: string;
}

type Reply<Failed extends Failure> = { readonly id: number } & (Failed | { readonly output: unknown });

interface Waiting {
  resolve(output: never): void;
  reject(error: Error): void;
}

interface AskedThreadOptions<Notice, Failed extends Failure> {
  readonly file: URL;
  readonly env: NodeJS.ProcessEnv;
  readonly workerData: unknown;
  /** The thread died, and what it held in memory is gone. */
  onLost(error: unknown): void;
  onNotice(notice: Notice): void;
  /** Makes the error of what was asked in vain, since the node stops or the thread died. */
  unavailable(sentence: string): Error;
  /** Makes the error of a question that the thread answered with a failure. */
  refused(reply: Failed): Error;
}

export class AskedThread<Operations extends OperationsOf<Operations>, Notice, Failed extends Failure = Failure> {
  readonly #options: AskedThreadOptions<Notice, Failed>;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(options: AskedThreadOptions<Notice, Failed>) {
    this.#options = options;
  }

  /** Again after close(). */
  open(): void {
    this.#isClosed = false;
  }

  /** The number of the question, and its answer, which rejects with what the options make of a failure. Throws their `unavailable` once closed. */
  ask<O extends keyof Operations>(
    operation: O,
    input: Operations[O]['input'],
  ): { id: number; answer: Promise<Operations[O]['output']> } {
    if (this.#isClosed) throw this.#options.unavailable('The node is stopping.');
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Operations[O]['output']>();
    this.#waiting.set(id, { resolve, reject });
    const worker = this.#worker ?? this.#start();
    // It holds nothing that must be finished: only while it is asked something, the process may not end for want of other work.
    worker.ref();
    worker.postMessage({ id, operation, input });
    return { id, answer: promise };
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#isClosed = true;
    this.#worker = undefined;
    this.#failAll('The node is stopping.');
    await worker?.terminate();
  }

  #start(): Worker {
    const { file, env, workerData } = this.#options;
    const worker = new Worker(file, { execArgv: ['--no-warnings'], env, workerData, resourceLimits: threadLimits });
    worker.on('message', (message: Reply<Failed> | { notice: Notice }) => {
      if ('notice' in message) this.#options.onNotice(message.notice);
      else this.#take(message);
    });
    worker.on('error', (error) => this.#lose(worker, error));
    worker.on('exit', (code) => this.#lose(worker, new Error(`the thread ended with ${code}`)));
    this.#worker = worker;
    return worker;
  }

  #take(reply: Reply<Failed>): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) this.#worker?.unref();
    if ('failure' in reply) waiting?.reject(this.#options.refused(reply));
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
    for (const { reject } of waiting) reject(this.#options.unavailable(sentence));
  }
}
