/** How long the parts of a node that stops may take: what is left of the time for all, and a little where the others have used it up. */
import type { Log } from './log/log.ts';

/** Enough to write what is in memory; a part that takes longer hangs. */
const LEAST_MS = 10_000;

export class StopLimit {
  readonly #log: Log;
  readonly #endsAt: number;
  readonly #leastMs: number;

  constructor(log: Log, limitMs: number, leastMs = LEAST_MS) {
    this.#log = log;
    this.#endsAt = performance.now() + limitMs;
    this.#leastMs = leastMs;
  }

  /** Settles with the part's stop, or without it when it takes too long, which the log tells; then nobody waits for it any more. */
  async within(part: string, stop: () => Promise<unknown>): Promise<void> {
    const limitMs = Math.max(this.#leastMs, this.#endsAt - performance.now());
    const late = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => late.resolve('late'), limitMs);
    try {
      const stopping = stop();
      stopping.catch(() => undefined);
      if ((await Promise.race([stopping, late.promise])) === 'late')
        this.#log.error('a part of the node did not stop in time and is left behind', { part, limit_ms: Math.round(limitMs) });
    } finally {
      clearTimeout(timer);
    }
  }
}
