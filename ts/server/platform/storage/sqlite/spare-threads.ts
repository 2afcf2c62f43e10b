/** Starts the threads of a SQLite database, also before it may be opened: what they run is loaded meanwhile. */
import { Worker } from 'node:worker_threads';

const ENTRIES = {
  writer: new URL('../../../../workers/sqlite-writer.ts', import.meta.url),
  reader: new URL('../../../../workers/sqlite-reader.ts', import.meta.url),
};

export type ThreadRole = keyof typeof ENTRIES;

export type StartedThreads = Partial<Record<ThreadRole, Worker>>;

export class SpareThreads {
  readonly #waiting = new Map<ThreadRole, Worker>();

  /**
   * The writer, which keeps no process alive; `started` has it where it runs already and was told nothing. A reader that started as early
   * would take a core from the thread that reads the program, and is needed later.
   */
  static start(started: StartedThreads = {}): SpareThreads {
    const threads = new SpareThreads();
    threads.#add('writer', started.writer ?? startThread('writer'));
    return threads;
  }

  /** One that was started before, or a new one. */
  take(role: ThreadRole): Worker {
    const worker = this.#waiting.get(role);
    if (worker === undefined) return startThread(role);
    this.#waiting.delete(role);
    worker.removeAllListeners();
    worker.ref();
    return worker;
  }

  #add(role: ThreadRole, worker: Worker): void {
    worker.unref();
    // Whoever takes the next one meets the same fault, and tells it.
    for (const end of ['error', 'exit']) worker.on(end, () => this.#waiting.delete(role));
    this.#waiting.set(role, worker);
  }
}

export function startThread(role: ThreadRole): Worker {
  // The process's own options may be such as only fit its entry (`--input-type`), and a thread would refuse to start with them.
  return new Worker(ENTRIES[role], { name: `sqlite-${role}`, execArgv: [] });
}
