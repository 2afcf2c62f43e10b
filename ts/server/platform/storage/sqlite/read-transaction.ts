/** A read transaction on a reader thread. Until it has seen an answer, it moves to another thread when its own is given up for another one. */
import type { StatementResult } from '../statement.ts';
import type { ReaderThread, ReaderThreads } from './reader-threads.ts';
import type { EndRequest, StatementRequest } from './thread-messages.ts';

export class ReadTransaction {
  readonly id: number;
  readonly #threads: ReaderThreads;
  readonly #tenant: string | undefined;
  #reader: ReaderThread;
  #hasSeen = false;
  #isOver = false;

  constructor(id: number, threads: ReaderThreads, tenant: string | undefined) {
    this.id = id;
    this.#threads = threads;
    this.#tenant = tenant;
    this.#reader = threads.enter(tenant);
  }

  async ask(make: (id: number) => StatementRequest | EndRequest): Promise<readonly StatementResult[]> {
    for (;;) {
      const { thread } = this.#reader;
      try {
        const results = await thread.ask(make);
        this.#hasSeen = true;
        return results;
      } catch (error) {
        if (this.#hasSeen || this.#isOver || !thread.isGivenUp) throw error;
        this.#move();
      }
    }
  }

  /** It took too long: what still runs for it is of no use. */
  giveUp(): void {
    this.#isOver = true;
    this.#threads.giveUp(this.#reader, this.id);
  }

  close(): void {
    this.#threads.leave(this.#reader, this.#tenant);
  }

  #move(): void {
    this.#threads.leave(this.#reader, this.#tenant);
    this.#reader = this.#threads.enter(this.#tenant);
  }
}
