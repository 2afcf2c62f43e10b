/** A node trusts the list that it read last, for so long as it could read one at all: whoever was removed meanwhile is let in no longer than that. */

interface TrustPorts {
  /** Milliseconds of a clock that nobody sets. */
  now(): number;
  readonly lastsMs: number;
}

export class Trust<T> {
  readonly #ports: TrustPorts;
  #list: readonly T[] = [];
  #until = Number.NEGATIVE_INFINITY;

  constructor(ports: TrustPorts) {
    this.#ports = ports;
  }

  /** It counts from the question: the database may have answered at once, and the answer be late. */
  read(list: readonly T[], askedAt: number): void {
    this.#list = list;
    this.#until = askedAt + this.#ports.lastsMs;
  }

  /** Empty: no list was read for too long. */
  get current(): readonly T[] {
    return this.isCurrent ? this.#list : [];
  }

  get isCurrent(): boolean {
    return this.#ports.now() < this.#until;
  }
}
