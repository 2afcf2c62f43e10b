/**
 * The nodes as this one has last read them. When most of them fall silent between two readings, they are not what is at fault: the clock or the list is.
 * Then the map freezes as it was, until most are heard again or all this time has been silent for twice as long as an entry lives.
 */
import type { NodeEntry } from '../node-store.ts';
import { isGone, isLate } from './node-state.ts';

interface NodeMapPorts {
  /** The own entry says nothing of the others. */
  ownId(): string;
  readonly entryMs: number;
}

/** Fewer may well fall silent together. */
const FEWEST = 2;

export class NodeMap {
  readonly #ports: NodeMapPorts;
  /** Those that were heard in time when the map was last good, and since, by id. */
  #heard: ReadonlyMap<string, NodeEntry> = new Map();
  #isFrozen = false;

  constructor(ports: NodeMapPorts) {
    this.#ports = ports;
  }

  /** The map is older than it looks. */
  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** The entries as they are to be used. */
  take(entries: readonly NodeEntry[]): readonly NodeEntry[] {
    const asked = entries.filter((entry) => this.#heard.has(entry.id) && entry.ended === 0 && !this.#isLost(entry));
    const silent = new Set(asked.filter((entry) => this.#isLate(entry)).map(({ id }) => id));
    this.#isFrozen = asked.length >= FEWEST && silent.size * 2 > asked.length;
    const before = this.#heard;
    const own = this.#ports.ownId();
    const heard = entries.filter((entry) => entry.id !== own && entry.ended === 0 && !this.#isLate(entry));
    // Whoever is heard while the map is frozen may fall silent again before it thaws.
    const kept = this.#isFrozen ? [...before.values()] : [];
    this.#heard = new Map([...kept, ...heard].map((entry) => [entry.id, entry]));
    if (!this.#isFrozen) return entries;
    return entries.map((entry) =>
      silent.has(entry.id) ? { ...entry, seenMsAgo: (before.get(entry.id) as NodeEntry).seenMsAgo } : entry,
    );
  }

  #isLate(entry: NodeEntry): boolean {
    return isLate(entry) || isGone(entry, this.#ports.entryMs);
  }

  #isLost({ seenMsAgo, heartbeat_ms: beatMs }: NodeEntry): boolean {
    return seenMsAgo > 2 * Math.max(this.#ports.entryMs, beatMs);
  }
}
