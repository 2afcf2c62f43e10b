/** The database of a simulated cluster: rows that last once a disk has them, by a clock of its own that is set now and then. */
import type { NodeEntry } from '../../ts/server/domains/cluster/node-store.ts';
import type { grantLease, Lease } from '../../ts/server/domains/cluster/protocol/lease.ts';
import { Process, type World } from './world.ts';

interface LeaderWrite {
  readonly epoch: number;
  /** The process that wrote, not its node alone. */
  readonly writer: string;
  readonly number: number;
}

interface Rows {
  readonly lease: Lease;
  readonly nodes: ReadonlyMap<string, NodeEntry & { seenAt: number }>;
  readonly writes: readonly LeaderWrite[];
  /** Certificates that are let in. */
  readonly trusted: readonly string[];
}

export class Database {
  readonly process: Process;
  /** Set by an administrator, a wrong NTP server, or a virtual machine that was moved. */
  clockOffsetMs = 0;
  readonly #world: World;
  readonly #grant: typeof grantLease;
  #rows: Rows = { lease: { leader: null, epoch: 0, leaseUntil: 0 }, nodes: new Map(), writes: [], trusted: [] };
  #durable = this.#rows;

  constructor(world: World, grant: typeof grantLease) {
    this.#world = world;
    this.#grant = grant;
    this.process = new Process(world, 'database');
  }

  get rows(): Rows {
    return this.#rows;
  }

  get durable(): Rows {
    return this.#durable;
  }

  get now(): number {
    return this.#world.now + this.clockOffsetMs;
  }

  async beat(told: Omit<NodeEntry, 'seenMsAgo'>): Promise<string | undefined> {
    const last = this.#rows.nodes.get(told.id)?.boot;
    const nodes = new Map(this.#rows.nodes).set(told.id, { ...told, seenMsAgo: 0, seenAt: this.now });
    await this.#commit({ ...this.#rows, nodes });
    return last;
  }

  nodes(): Promise<NodeEntry[]> {
    return Promise.resolve([...this.#rows.nodes.values()].map((row) => ({ ...row, seenMsAgo: this.now - row.seenAt })));
  }

  certificates(): Promise<readonly string[]> {
    return Promise.resolve(this.#rows.trusted);
  }

  trust(certificate: string): Promise<void> {
    return this.#commit({ ...this.#rows, trusted: [...this.#rows.trusted, certificate] });
  }

  revoke(certificate: string): Promise<void> {
    return this.#commit({ ...this.#rows, trusted: this.#rows.trusted.filter((each) => each !== certificate) });
  }

  async lead(id: string, leaseMs: number, held: number | undefined): Promise<number | undefined> {
    const lease = this.#grant(this.#rows.lease, { id, held, now: this.now, leaseMs });
    if (lease === undefined) return undefined;
    await this.#commit({ ...this.#rows, lease });
    return lease.epoch;
  }

  /** Whether it was written: the epoch of the row is the writer's. */
  async write(write: LeaderWrite): Promise<boolean> {
    if (this.#rows.lease.epoch !== write.epoch) return false;
    await this.#commit({ ...this.#rows, writes: [...this.#rows.writes, write] });
    return true;
  }

  /** Writes that the disk has not taken are lost. */
  crash(): void {
    this.process.crash();
    this.#rows = this.#durable;
  }

  /** Resolves when the rows, and all before them, are on the disk. */
  #commit(rows: Rows): Promise<void> {
    this.#rows = rows;
    return new Promise((resolve) => {
      this.process.after(2, () => {
        this.#durable = rows;
        resolve();
      });
    });
  }
}
