/**
 * Whether this machine has a processor for the processes of a soak. One that is busy with much else makes each of them miss its limits of time, so what comes
 * late then says nothing of the nodes.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

interface Sample {
  /** Milliseconds of the soak. */
  readonly at: number;
  /** How long each process has waited for a processor since its start, in milliseconds. */
  readonly waitedMs: ReadonlyMap<number, number>;
}

const SAMPLE_MS = 2_000;
/** A shorter time says little of a process. */
const LEAST_MS = 1_000;
/** A process that waits for so much of the time is late with what it does. */
const SCARCE_PART = 0.5;
/** Others are still late with what they do behind such a time. */
const AFTER_MS = 15_000;

export class Processors {
  readonly #read: () => Sample;
  #last: Sample;
  #scarceMs = 0;
  #scarceAt = Number.NEGATIVE_INFINITY;

  constructor(read: () => Sample) {
    this.#read = read;
    this.#last = read();
  }

  /** Milliseconds in which there were too few. */
  get scarceMs(): number {
    return this.#scarceMs;
  }

  async watch(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await wait(SAMPLE_MS);
      this.#take();
    }
  }

  /** Whether there were too few at some time since then, or shortly before. */
  wereScarceSince(from: number): boolean {
    this.#take();
    return this.#scarceAt + AFTER_MS >= from;
  }

  #take(): void {
    const [before, now] = [this.#last, this.#read()];
    const tookMs = now.at - before.at;
    if (tookMs < LEAST_MS) return;
    this.#last = now;
    const waits = [...now.waitedMs].map(([pid, waitedMs]) => waitedMs - (before.waitedMs.get(pid) ?? waitedMs));
    if (Math.max(0, ...waits) < SCARCE_PART * tookMs) return;
    this.#scarceMs += tookMs;
    this.#scarceAt = now.at;
  }
}

/** A process that has ended has no entry. Source: proc(5), "schedstat": the second number is nanoseconds on the run queue, of the main thread. */
export function waitsOf(pids: readonly number[]): Map<number, number> {
  const waits = new Map<number, number>();
  for (const pid of pids)
    try {
      waits.set(pid, Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6);
    } catch {
      // It has ended, or was not started again yet.
    }
  return waits;
}
