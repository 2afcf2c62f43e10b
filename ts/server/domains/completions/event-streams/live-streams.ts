/** The streams that this process is writing, by key, and who waits for their next events. */
export class LiveStreams<Stream> {
  readonly #streams = new Map<string, Stream>();
  readonly #waiting = new Map<string, Set<() => void>>();

  find(key: string): Stream | undefined {
    return this.#streams.get(key);
  }

  values(): Iterable<Stream> {
    return this.#streams.values();
  }

  open(key: string, stream: Stream): void {
    this.#streams.set(key, stream);
    this.changed(key);
  }

  close(key: string, stream: Stream): void {
    if (this.#streams.get(key) === stream) this.#streams.delete(key);
    this.changed(key);
  }

  /** Wakes whoever waits for this stream. */
  changed(key: string): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    this.#waiting.delete(key);
    for (const wake of waiting) wake();
  }

  /** Resolves with the next change, after `limitMs` if it is given, or when the signal aborts. Begins to wait at once. */
  async wait(key: string, signal: AbortSignal, limitMs?: number): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting.add(resolve));
    const timer = limitMs === undefined ? undefined : setTimeout(resolve, limitMs);
    signal.addEventListener('abort', resolve as () => void, { once: true });
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', resolve as () => void);
    waiting.delete(resolve);
    if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
  }
}
