/** The background responses that this process is making, and who waits for their next events. */
import type { LiveEvents } from './live-events.ts';

export class LiveResponses {
  readonly #events = new Map<string, LiveEvents>();
  readonly #waiting = new Map<string, Set<() => void>>();

  find(id: string): LiveEvents | undefined {
    return this.#events.get(id);
  }

  open(id: string, events: LiveEvents): void {
    this.#events.set(id, events);
    this.changed(id);
  }

  close(id: string, events: LiveEvents): void {
    if (this.#events.get(id) === events) this.#events.delete(id);
    this.changed(id);
  }

  /** Wakes whoever waits for this response. */
  changed(id: string): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    for (const wake of waiting ?? []) wake();
  }

  /** Resolves with the next change, after `limitMs`, or when the signal aborts. Begins to wait at once. */
  async wait(id: string, limitMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(resolve));
    const timer = setTimeout(resolve, limitMs);
    signal.addEventListener('abort', resolve as () => void, { once: true });
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', resolve as () => void);
    waiting.delete(resolve);
    if (waiting.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id);
  }
}
