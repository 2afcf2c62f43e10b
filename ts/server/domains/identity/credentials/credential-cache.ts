/**
 * Credentials that were looked up, by the hash of their secret: a request with a known one reads no database. Whatever ends or changes a
 * credential calls `clear()`.
 *
 * An entry is found by the first half of the hash, which a caller can choose no better than a random number, and the second half is compared
 * in constant time: how long a wrong secret takes says nothing of how near it is.
 */

import { isSameHash } from '../secrets/secret-token.ts';
import type { LastUses } from './credential-store.ts';
import type { ResolvedCredential } from './resolved-credential.ts';

interface CredentialCacheOptions {
  /** An older entry is looked up again; Infinity while every change by another process is heard of. */
  maxAgeMs(): number;
  maxEntries?: number;
}

interface Entry {
  hash: string;
  credential: ResolvedCredential;
}

export class CredentialCache {
  readonly #maxAgeMs: () => number;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Entry>();
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
    const selector = selectorOf(hash);
    const entry = this.#entries.get(selector);
    if (entry === undefined || !isSameHash(entry.hash, hash)) return undefined;
    const { credential } = entry;
    const { expiresAt, usedAt, idleMs, loadedAt } = credential;
    if (now < expiresAt && now - usedAt < idleMs && now - loadedAt < this.#maxAgeMs()) {
      credential.usedAt = now;
      return credential;
    }
    this.#forget(selector, entry);
    return undefined;
  }

  /** `version` is that of before the look-up. False: it may be outdated and was not taken. */
  add(hash: string, credential: ResolvedCredential, version: number): boolean {
    if (version !== this.#version) return false;
    const [oldest] = this.#entries.size >= this.#maxEntries ? this.#entries : [];
    if (oldest !== undefined) this.#forget(...oldest);
    this.#entries.set(selectorOf(hash), { hash, credential });
    return true;
  }

  clear(): void {
    this.#version += 1;
    for (const { credential } of this.#entries.values()) this.#noteUse(credential);
    this.#entries.clear();
  }

  /** What was used since the last call. */
  takeLastUses(): LastUses {
    for (const { credential } of this.#entries.values()) this.#noteUse(credential);
    const uses = { keys: this.#keyUses, sessions: this.#sessionUses };
    this.#keyUses = new Map();
    this.#sessionUses = new Map();
    return uses;
  }

  #forget(selector: string, { credential }: Entry): void {
    this.#noteUse(credential);
    this.#entries.delete(selector);
  }

  #noteUse(credential: ResolvedCredential): void {
    const { kind, id, usedAt, notedAt } = credential;
    if (usedAt <= notedAt || kind === 'capability') return;
    credential.notedAt = usedAt;
    (kind === 'key' ? this.#keyUses : this.#sessionUses).set(id, usedAt);
  }
}

/** 132 bits. */
function selectorOf(hash: string): string {
  return hash.slice(0, 22);
}
