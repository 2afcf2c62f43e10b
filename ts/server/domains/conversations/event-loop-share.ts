/** Lets others have the event loop: a search looks through much text, and streams must go on meanwhile. */
import { setImmediate as nextIteration } from 'node:timers/promises';

const LONGEST_MS = 5;

export class EventLoopShare {
  #since = performance.now();

  /** Resolves at once, or in the next iteration of the event loop when this one has been kept for long. */
  async pause(): Promise<void> {
    if (performance.now() - this.#since < LONGEST_MS) return;
    await nextIteration();
    this.#since = performance.now();
  }
}
