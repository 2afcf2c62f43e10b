/** Identical questions of one node share one request while it runs, and its answer for a while after: the least recently used ones go first. */

interface Sized {
  readonly sizeBytes: number;
}

interface Running<T> {
  readonly answer: Promise<T>;
  readonly abort: AbortController;
  nWaiting: number;
}

interface Kept<T> {
  readonly answer: T;
  readonly until: number;
}

export class SharedAnswers<T extends Sized> {
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #running = new Map<string, Running<T>>();
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept<T>>();
  #sizeBytes = 0;

  constructor(maxBytes: number, now: () => number) {
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  /** Whoever leaves ends the request only where nobody else waits for it. Rejects with what the request failed with, or the signal's reason. */
  async get(
    key: string,
    keepMs: number,
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ answer: T; isShared: boolean }> {
    signal.throwIfAborted();
    const kept = this.#find(key);
    if (kept !== undefined) return { answer: kept, isShared: true };
    const before = this.#running.get(key);
    const running = before ?? this.#start(key, keepMs, ask);
    running.nWaiting += 1;
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = (): void => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    try {
      return { answer: await Promise.race([running.answer, left]), isShared: before !== undefined };
    } finally {
      signal.removeEventListener('abort', leave);
      running.nWaiting -= 1;
      if (running.nWaiting === 0) this.#end(key, running);
    }
  }

  #start(key: string, keepMs: number, ask: (signal: AbortSignal) => Promise<T>): Running<T> {
    const abort = new AbortController();
    const answer = ask(abort.signal).then((made) => {
      this.#keep(key, made, keepMs);
      return made;
    });
    answer.catch(() => undefined);
    const running = { answer, abort, nWaiting: 0 };
    this.#running.set(key, running);
    return running;
  }

  /** A request that has ended already is not disturbed by its signal. */
  #end(key: string, running: Running<T>): void {
    if (this.#running.get(key) === running) this.#running.delete(key);
    running.abort.abort(new DOMException('nobody waits for the answer', 'AbortError'));
  }

  #find(key: string): T | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#forget(key);
    if (kept.until <= this.#now()) return undefined;
    this.#kept.set(key, kept);
    this.#sizeBytes += kept.answer.sizeBytes;
    return kept.answer;
  }

  #keep(key: string, answer: T, keepMs: number): void {
    if (keepMs <= 0 || answer.sizeBytes > this.#maxBytes / 4) return;
    this.#forget(key);
    this.#kept.set(key, { answer, until: this.#now() + keepMs });
    this.#sizeBytes += answer.sizeBytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#sizeBytes <= this.#maxBytes) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#sizeBytes -= kept.answer.sizeBytes;
  }
}
