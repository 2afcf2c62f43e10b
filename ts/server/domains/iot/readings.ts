/** The newest reading of each variable of a device, with a quality that never says more than is known. */
import { type Device, isReadable, staleAfterMs, type Value, type Variable } from './profile.ts';
import { valueFrom } from './values.ts';

export const QUALITIES = ['good', 'stale', 'bad', 'offline'] as const;
export type Quality = (typeof QUALITIES)[number];

export interface Reading {
  readonly variable: string;
  /** Null: there is none, or what came is none. */
  readonly value: Value | null;
  /** The device's own time; null: it sent none. */
  readonly at: number | null;
  /** Null: nothing came yet. */
  readonly receivedAt: number | null;
  readonly quality: Quality;
}

/** A value as it came. */
export interface RawReading {
  readonly raw: unknown;
  readonly at?: number | undefined;
  /** The broker kept it: it may be of any age. */
  readonly isRetained?: boolean;
  /** It stands for no value, as the profile or the device says. */
  readonly badReason?: string | undefined;
}

interface Kept {
  readonly value: Value | null;
  readonly at: number | undefined;
  readonly receivedAt: number;
  readonly badReason: string | undefined;
  /** It came on the connection that there is now, and not from a broker's memory. */
  isConfirmed: boolean;
}

/** A clock of a device may be a little ahead. */
const MOST_AHEAD_MS = 60_000;

export class Readings {
  readonly #variables: ReadonlyMap<string, Variable>;
  readonly #kept = new Map<string, Kept>();
  readonly #waiting = new Map<string, Set<(value: Value | null) => void>>();
  #isConnected = false;

  constructor({ variables }: Pick<Device, 'variables'>) {
    this.#variables = new Map(variables.filter(isReadable).map((variable) => [variable.name, variable]));
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** The newest time at which something came. */
  get lastSeen(): number | undefined {
    let last: number | undefined;
    for (const { receivedAt } of this.#kept.values()) last = Math.max(last ?? 0, receivedAt);
    return last;
  }

  /** Earlier readings say nothing of the time without a connection. */
  setConnected(isConnected: boolean): void {
    if (isConnected === this.#isConnected) return;
    this.#isConnected = isConnected;
    for (const kept of this.#kept.values()) kept.isConfirmed = false;
  }

  /** Undefined: the device has no such variable. */
  take(name: string, { raw, at, isRetained = false, badReason }: RawReading, now: number): Reading | undefined {
    const variable = this.#variables.get(name);
    if (variable === undefined) return undefined;
    const value = badReason === undefined ? valueFrom(variable, raw) : undefined;
    const reason = value === undefined ? (badReason ?? `what came is no ${variable.type}`) : undefined;
    this.#kept.set(name, {
      value: value ?? null,
      at,
      receivedAt: now,
      badReason: reason,
      isConfirmed: !isRetained || at !== undefined,
    });
    if (!isRetained) this.#tell(name, value ?? null);
    return this.get(variable, now);
  }

  /** Why the value is bad; undefined: it is not. */
  badReason(name: string): string | undefined {
    return this.#kept.get(name)?.badReason;
  }

  get(variable: Variable, now: number): Reading {
    const kept = this.#kept.get(variable.name);
    const about = {
      variable: variable.name,
      value: kept?.value ?? null,
      at: kept?.at ?? null,
      receivedAt: kept?.receivedAt ?? null,
    };
    return { ...about, quality: this.#qualityOf(variable, kept, now) };
  }

  /** The next value that comes live; a value is null where what came is bad. Rejects with the signal's reason. */
  next(name: string, signal: AbortSignal): Promise<Value | null> {
    const { promise, resolve, reject } = Promise.withResolvers<Value | null>();
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(resolve));
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    return promise.finally(() => {
      waiting.delete(resolve);
      signal.removeEventListener('abort', abort);
    });
  }

  #tell(name: string, value: Value | null): void {
    for (const resolve of this.#waiting.get(name) ?? []) resolve(value);
  }

  #qualityOf(variable: Variable, kept: Kept | undefined, now: number): Quality {
    if (!this.#isConnected) return 'offline';
    if (kept === undefined) return 'stale';
    if (kept.badReason !== undefined) return 'bad';
    const newest = Math.min(kept.receivedAt, kept.at ?? kept.receivedAt);
    const isFromFuture = (kept.at ?? 0) > now + MOST_AHEAD_MS;
    return kept.isConfirmed && !isFromFuture && now - newest <= staleAfterMs(variable) ? 'good' : 'stale';
  }
}
