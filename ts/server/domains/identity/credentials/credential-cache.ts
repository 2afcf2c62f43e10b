/**
 * Credentials that were looked up, by the hash of their secret: a request with a known one reads no database. Whatever ends or changes a
 * credential calls `clear()`. Other processes on the same database are noticed after `maxAgeMs`.
 */
import type { LastUses } from './credential-store.ts';
import type { ResolvedCredential } from './resolved-credential.ts';

export interface CredentialCacheOptions {
  /** An older entry is looked up again; Infinity where no other process writes to the database. */
  maxAgeMs: number;
  maxEntries?: number;
}

export class CredentialCache {
  readonly #maxAgeMs: number;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, ResolvedCredential>();
  #keyUses = new Map<string, number>();
  #sessionUses = new Map<string, number>();
  /** Goes up with each `clear()`: what was read before it may be outdated when it arrives. */
  #version = 0;

  constructor({ maxAgeMs, maxEntries = 10_000 }: CredentialCacheOptions) {
    this.#maxAgeMs = maxAgeMs;
    this.#maxEntries = maxEntries;
  }

  get version(): number {
    return this.#version;
  }

  /** Undefined: not known, or it has to be looked up again. */
  find(hash: string, now: number): ResolvedCredential | undefined {
    const entry = this.#entries.get(hash);
    if (entry === undefined) return undefined;
    const isGood = now < entry.expiresAt && now - entry.usedAt < entry.idleMs && now - entry.loadedAt < this.#maxAgeMs;
    if (isGood) {
      entry.usedAt = now;
      return entry;
    }
    this.#forget(hash, entry);
    return undefined;
  }

  /** `version` is that of before the look-up. False: it may be outdated and was not taken. */
  add(hash: string, entry: ResolvedCredential, version: number): boolean {
    if (version !== this.#version) return false;
    const [oldest] = this.#entries.size >= this.#maxEntries ? this.#entries : [];
    if (oldest !== undefined) this.#forget(...oldest);
    this.#entries.set(hash, entry);
    return true;
  }

  clear(): void {
    this.#version += 1;
    for (const entry of this.#entries.values()) this.#noteUse(entry);
    this.#entries.clear();
  }

  /** What was used since the last call. */
  takeLastUses(): LastUses {
    for (const entry of this.#entries.values()) this.#noteUse(entry);
    const uses = { keys: this.#keyUses, sessions: this.#sessionUses };
    this.#keyUses = new Map();
    this.#sessionUses = new Map();
    return uses;
  }

  #forget(hash: string, entry: ResolvedCredential): void {
    this.#noteUse(entry);
    this.#entries.delete(hash);
  }

  #noteUse(entry: ResolvedCredential): void {
    if (entry.usedAt <= entry.notedAt) return;
    entry.notedAt = entry.usedAt;
    (entry.kind === 'key' ? this.#keyUses : this.#sessionUses).set(entry.id, entry.usedAt);
  }
}
