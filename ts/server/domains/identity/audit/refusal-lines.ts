/**
 * The audit log's lines of credentials that were refused. Strangers can send as many as they like, and the log is kept: an address has one line at
 * once for each reason, then one a minute with how many more there were.
 */
import { ANONYMOUS } from '../../../platform/http/principal.ts';
import { addressKey } from '../../../platform/network/address-key.ts';
import { type AuditEntry, auditEntry } from './audit-entry.ts';

interface Refusal {
  reason: string;
  remoteAddress: string;
  path: string;
}

interface Repeated {
  latest: Refusal;
  nMore: number;
}

const SUMMARY_MS = 60_000;
/** Addresses are many where they cost nothing; beyond this many, those of a reason are counted together. */
const MAX_ADDRESSES = 100;

export class RefusalLines {
  readonly #add: (entry: AuditEntry) => void;
  readonly #repeated = new Map<string, Repeated>();
  #timer: NodeJS.Timeout | undefined;

  /** `add` writes a line to the log. */
  constructor(add: (entry: AuditEntry) => void) {
    this.#add = add;
  }

  start(): void {
    this.#timer = setInterval(() => this.summarise(), SUMMARY_MS).unref();
  }

  /** Writes what was counted. */
  stop(): void {
    clearInterval(this.#timer);
    this.summarise();
    this.#repeated.clear();
  }

  note(refusal: Refusal): void {
    const own = `${refusal.reason} ${addressKey(refusal.remoteAddress)}`;
    const isFull = this.#repeated.size >= MAX_ADDRESSES && !this.#repeated.has(own);
    const key = isFull ? refusal.reason : own;
    const known = this.#repeated.get(key);
    if (known !== undefined) {
      known.nMore += 1;
      known.latest = refusal;
      return;
    }
    this.#repeated.set(key, { latest: refusal, nMore: 0 });
    this.#add(lineOf(refusal, {}));
  }

  /** A line for each that went on since the last time; the others begin anew. */
  summarise(): void {
    for (const [key, repeated] of this.#repeated) {
      if (repeated.nMore === 0) this.#repeated.delete(key);
      else this.#add(lineOf(repeated.latest, { more: repeated.nMore }));
      repeated.nMore = 0;
    }
  }
}

function lineOf({ reason, remoteAddress, path }: Refusal, more: { more?: number }): AuditEntry {
  const source = { caller: ANONYMOUS, remoteAddress, requestId: '' };
  const detail = { reason, path: path.slice(0, 200), ...more };
  return auditEntry(source, { action: 'credential.refused', outcome: 'denied', detail });
}
