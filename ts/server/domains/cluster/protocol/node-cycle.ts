/** The cycle of a node: it tells the others how it is, leads while it may, and counts who is there. */
import type { NodeEntry } from '../node-store.ts';
import { Leadership } from './lease.ts';
import { isGone } from './node-state.ts';

export type Told = Omit<NodeEntry, 'seenMsAgo'>;

interface CyclePorts {
  readonly heartbeatMs: number;
  readonly entryMs: number;
  now(): number;
  /** Resolves to the process that told of this node last. */
  beat(told: Told): Promise<string | undefined>;
  lead(leaseMs: number, held: number | undefined): Promise<number | undefined>;
  nodes(): Promise<readonly NodeEntry[]>;
  mayLead(): boolean;
  describe(): Promise<Told>;
  /** The facts whose change is told before the next heartbeat is due. */
  facts(): Promise<Partial<Told>>;
  onLead(epoch: number): Promise<void>;
  /** Another process tells of this node, too, and did so before this one. */
  onTwin(): void;
}

export class NodeCycle {
  readonly leadership: Leadership;
  readonly #ports: CyclePorts;
  #told: Told | undefined;
  #before: string | undefined;
  #nTwinBeats = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  #mapAt: number;
  #size = 1;

  constructor(ports: CyclePorts) {
    this.#ports = ports;
    this.#mapAt = ports.now();
    this.leadership = new Leadership({ now: () => ports.now(), lead: (leaseMs, held) => ports.lead(leaseMs, held) });
  }

  /** Nodes that are there, and how old that is. */
  get map(): { size: number; ageMs: number } {
    return { size: this.#size, ageMs: this.#ports.now() - this.#mapAt };
  }

  async run(): Promise<void> {
    const { heartbeatMs, entryMs, now, mayLead, nodes, onLead } = this.#ports;
    const isDue = now() - this.#toldAt >= heartbeatMs || (await this.#hasChanged());
    if (isDue) await this.tell();
    const epoch = await this.leadership.renew(mayLead());
    if (epoch !== undefined) await onLead(epoch);
    if (isDue) this.#size = (await nodes()).filter((entry) => !isGone(entry, entryMs)).length;
    this.#mapAt = now();
  }

  async tell(): Promise<void> {
    const told = await this.#ports.describe();
    const last = await this.#ports.beat(told);
    if (this.#told === undefined) this.#before = last;
    else if (last !== undefined && last !== told.boot && last === this.#before) this.#twinBeats();
    this.#told = told;
    this.#toldAt = this.#ports.now();
  }

  /** One may have been under way when its process ended; a second one comes from a process that lives. */
  #twinBeats(): void {
    this.#nTwinBeats += 1;
    if (this.#nTwinBeats === 2) this.#ports.onTwin();
  }

  async #hasChanged(): Promise<boolean> {
    const now = await this.#ports.facts();
    return (Object.keys(now) as (keyof Told)[]).some((name) => this.#told?.[name] !== now[name]);
  }
}
