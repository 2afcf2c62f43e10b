/** Virtual time, processes and a network that loses, delays and cuts, all from one seed: the same seed makes the same run. */
import type { SeededRandom } from '../../models/random/seeded-random.ts';

interface Happening {
  at: number;
  order: number;
  run(): void;
}

/** A process of a machine: it crashes, is stopped and goes on, and its clock may be fast or slow. */
export class Process {
  readonly id: string;
  isUp = true;
  isStopped = false;
  /** Counts its starts: what an earlier one has begun ends with it. */
  incarnation = 0;
  clockRate = 1;
  readonly #world: World;
  #delayed: (() => void)[] = [];
  #clock = 0;
  #clockAt = 0;

  constructor(world: World, id: string) {
    this.#world = world;
    this.id = id;
  }

  now(): number {
    return this.#clock + (this.#world.now - this.#clockAt) * this.clockRate;
  }

  setClockRate(rate: number): void {
    this.#clock = this.now();
    this.#clockAt = this.#world.now;
    this.clockRate = rate;
  }

  /** Runs when its own clock is so much later, unless it crashes before. */
  after(ms: number, run: () => void): void {
    this.#world.after(ms / this.clockRate, this.whileItLives(run));
  }

  whileItLives(run: () => void): () => void {
    const { incarnation } = this;
    const begin = (): void => {
      if (!this.isUp || this.incarnation !== incarnation) return;
      if (this.isStopped) this.#delayed.push(begin);
      else run();
    };
    return begin;
  }

  crash(): void {
    this.isUp = false;
    this.isStopped = false;
    this.incarnation += 1;
    this.#delayed = [];
  }

  goOn(): void {
    this.isStopped = false;
    for (const run of this.#delayed.splice(0)) this.#world.after(0, run);
  }
}

export class World {
  readonly random: SeededRandom;
  now = 0;
  /** `from>to`: nothing arrives. */
  readonly cut = new Set<string>();
  lossRate = 0;
  extraDelayMs = 0;
  #queue: Happening[] = [];
  #order = 0;

  constructor(random: SeededRandom) {
    this.random = random;
  }

  after(ms: number, run: () => void): void {
    this.#at(this.now + Math.max(0, ms), run);
  }

  /** Events of one time happen in the order in which they were planned. */
  #at(at: number, run: () => void): void {
    this.#order += 1;
    push(this.#queue, { at, order: this.#order, run });
  }

  /** Promises settle after each event, before the next one. */
  async run(untilMs: number): Promise<void> {
    for (let next = this.#queue[0]; next !== undefined && next.at <= untilMs; next = this.#queue[0]) {
      pop(this.#queue);
      this.now = next.at;
      next.run();
      await new Promise(setImmediate);
    }
    this.now = untilMs;
  }

  /** Whether it is under way; what is lost is so for good, as the rest of its connection. */
  send(from: Process, to: Process, run: () => void, notBefore = 0): number | undefined {
    if (this.cut.has(`${from.id}>${to.id}`) || this.random.chance(this.lossRate)) return undefined;
    const at = Math.max(notBefore, this.now + 1 + this.random.next() * (10 + this.extraDelayMs));
    this.#at(at, to.whileItLives(run));
    return at;
  }

  /** Asks another process, which answers when `answer` resolves. Rejects after `limitMs` of the asking one's clock. */
  call<T>(from: Process, to: Process, answer: () => Promise<T>, limitMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      let settle = (): void => {};
      // Of the process that asked: one that was started meanwhile has asked nothing.
      const hear = from.whileItLives(() => settle());
      const reply = (run: () => void): void => {
        settle = run;
        this.send(to, from, hear);
      };
      from.after(limitMs, () => reject(new Error('no answer')));
      this.send(from, to, () => {
        answer().then(
          (value) => reply(() => resolve(value)),
          (error: unknown) => reply(() => reject(error)),
        );
      });
    });
  }
}

const isBefore = (a: Happening, b: Happening): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** A binary heap, the earliest first. */
function push(heap: Happening[], added: Happening): void {
  let i = heap.push(added) - 1;
  for (let up = (i - 1) >> 1; i > 0 && isBefore(added, heap[up] as Happening); i = up, up = (i - 1) >> 1) {
    heap[i] = heap[up] as Happening;
  }
  heap[i] = added;
}

function pop(heap: Happening[]): void {
  const last = heap.pop() as Happening;
  if (heap.length === 0) return;
  let i = 0;
  for (;;) {
    let down = 2 * i + 1;
    if (down + 1 < heap.length && isBefore(heap[down + 1] as Happening, heap[down] as Happening)) down += 1;
    if (down >= heap.length || !isBefore(heap[down] as Happening, last)) break;
    heap[i] = heap[down] as Happening;
    i = down;
  }
  heap[i] = last;
}
