/** Starts the threads of a SQLite database, also before it may be opened: what they run is loaded meanwhile. */
import { Worker } from 'node:worker_threads';
import { threadLimits } from '../../pool/thread-limits.ts';

const ENTRIES = {
  writer: new URL('../../../../workers/sqlite-writer.ts', import.meta.url),
  reader: new URL('../../../../workers/sqlite-reader.ts', import.meta.url),
};

type ThreadRole = keyof typeof ENTRIES;

export interface StartedThreads {
  readonly writer?: Worker;
}

/** At most a writer: a reader that started as early would take a core from the thread that reads the program, and is needed later. */
export class SpareThreads {
  #writer: Worker | undefined;

  /** Keeps no process alive. `started` has threads that run already and were told nothing. */
  static start({ writer = startThread('writer') }: StartedThreads = {}): SpareThreads {
    const threads = new SpareThreads();
    threads.#writer = writer;
    writer.unref();
    // Whoever takes the next one meets the same fault, and tells it.
    for (const end of ['error', 'exit']) writer.on(end, () => (threads.#writer = undefined));
    return threads;
  }

  /** One that was started before, or a new one. */
  take(role: ThreadRole): Worker {
    const worker = role === 'writer' ? this.#writer : undefined;
    if (worker === undefined) return startThread(role);
    this.#writer = undefined;
    worker.removeAllListeners();
    worker.ref();
    return worker;
  }
}

export function startThread(role: ThreadRole): Worker {
  // The process's own options may be such as only fit its entry (`--input-type`), and a thread would refuse to start with them.
  return new Worker(ENTRIES[role], { name: `sqlite-${role}`, execArgv: [], resourceLimits: threadLimits });
}
