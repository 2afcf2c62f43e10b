/** The newest events of a stream in memory. Those that were forgotten had smaller numbers than all that are here. */
import { type EventBatch, firstBehind } from './event-batch.ts';

export class EventWindow {
  #batches: EventBatch[] = [];
  #length = 0;
  #floor: number;

  /** Every event with a greater number than `floor` will be here. */
  constructor(floor: number) {
    this.#floor = floor;
  }

  /** Characters of all frames. */
  get length(): number {
    return this.#length;
  }

  /** Number of the newest event that is not here any more. */
  get floor(): number {
    return this.#floor;
  }

  push(...batches: readonly EventBatch[]): void {
    this.#batches.push(...batches);
    this.#length += lengthOf(batches);
  }

  /** Events behind `after`; undefined when the first of them was forgotten. */
  after(after: number): EventBatch[] | undefined {
    return after < this.#floor ? undefined : this.#batches.slice(firstBehind(this.#batches, after));
  }

  /** Forgets the oldest events up to the number `last` at most until `maxLength` characters are left, and returns how many batches went. */
  forget(maxLength: number, last = Number.POSITIVE_INFINITY): number {
    let nForgotten = 0;
    for (const batch of this.#batches) {
      if (this.#length <= maxLength || batch.last > last) break;
      this.#length -= batch.frames.length;
      this.#floor = batch.last;
      nForgotten += 1;
    }
    this.#batches.splice(0, nForgotten);
    return nForgotten;
  }
}

export function lengthOf(batches: readonly EventBatch[]): number {
  return batches.reduce((sum, { frames }) => sum + frames.length, 0);
}
