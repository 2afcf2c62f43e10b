/** The leader: a lease in the database, by its clock, with an epoch that counts the processes that had it. Time and database come through ports. */

export interface Lease {
  readonly leader: string | null;
  readonly epoch: number;
  readonly leaseUntil: number;
}

interface LeaseRequest {
  readonly id: string;
  /** The epoch in which this very process leads already. */
  readonly held: number | undefined;
  readonly now: number;
  readonly leaseMs: number;
}

/**
 * The lease as the node has it from now on; undefined: another one leads. A process that begins again begins an epoch too, though its node led before:
 * what the process before it wrote may still be under way.
 */
export function grantLease(lease: Lease, { id, held, now, leaseMs }: LeaseRequest): Lease | undefined {
  const leaseUntil = now + leaseMs;
  const isOver = lease.leaseUntil <= now;
  if (!isOver && lease.leader !== id) return undefined;
  const isRenewal = !isOver && lease.epoch === held;
  return { leader: id, epoch: isRenewal ? lease.epoch : lease.epoch + 1, leaseUntil };
}

/** A leader that tells nothing for so long is none any more. */
const LEASE_MS = 15_000;
const RENEW_MS = 5_000;

interface LeadershipPorts {
  /** Milliseconds of a clock that nobody sets. */
  now(): number;
  /** Asks the database for the lease. */
  lead(leaseMs: number, held: number | undefined): Promise<number | undefined>;
}

export class Leadership {
  readonly #ports: LeadershipPorts;
  #held: number | undefined;
  #until = 0;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(ports: LeadershipPorts) {
    this.#ports = ports;
  }

  /** The epoch in which this node leads; undefined: another one does, or may, since the database was not reached for as long as a lease. */
  get epoch(): number | undefined {
    return this.#ports.now() < this.#until ? this.#held : undefined;
  }

  /** Asks for the lease where that is due. The epoch that begins; undefined: none does. */
  async renew(mayLead: boolean): Promise<number | undefined> {
    const askedAt = this.#ports.now();
    if (askedAt - this.#askedAt < RENEW_MS) return undefined;
    this.#askedAt = askedAt;
    const before = this.#held;
    this.#held = mayLead ? await this.#ports.lead(LEASE_MS, before) : undefined;
    // It counts from the question: the database may have answered at once, and the answer be late.
    this.#until = askedAt + LEASE_MS;
    return this.#held === before ? undefined : this.#held;
  }

  /** Has the next renewal be due at once. */
  renewNext(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  end(): void {
    this.#held = undefined;
    this.renewNext();
  }
}
