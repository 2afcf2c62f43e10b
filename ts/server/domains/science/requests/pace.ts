/**
 * How fast a source is asked by all nodes of the database together: each request takes the next place in time, in one statement and by the
 * database's clock. What a source says of its limits moves the places of all nodes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { databaseTime } from '../../../platform/storage/index.ts';
import { scienceError } from '../errors.ts';
import { everySource, type PaceRow, type ScienceStorage } from '../tables.ts';

interface SourceRate {
  readonly requests: number;
  readonly per_seconds: number;
}

interface PaceOptions {
  readonly storage: ScienceStorage;
  /** A request that would wait longer is refused. */
  readonly mostWaitMs: number;
}

/** Requests that leave at equal distances arrive at others. */
const MARGIN = 1.05;
const MARGIN_MS = 30;
/** One node has so many waiting for one source. */
const MOST_WAITING = 200;
/** A source that names no time is left alone for so long. */
const REFUSED_MS = 10_000;
const MOST_BLOCKED_MS = 24 * 60 * 60 * 1000;
/** A request that was held up takes another place so often. */
const MOST_PLACES = 5;

/** When a request may leave, by the database's clock, and how long that is from now. */
interface Place {
  readonly at: number;
  readonly waitMs: number;
}

export class Pace {
  readonly #options: PaceOptions;
  /** Places are asked for one after the other, by source. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #nWaiting = new Map<string, number>();

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the request may leave. One whose node was held up meanwhile takes another place, since those that were held up with it would leave
   * at once. Throws `source_rate_limited`, or the signal's reason.
   */
  async take(source: string, rate: SourceRate, signal: AbortSignal): Promise<void> {
    for (let n = 0; n < MOST_PLACES; n += 1) {
      const { at, waitMs } = await this.reserve(source, rate);
      if (waitMs > 0) await sleep(waitMs + 1, undefined, { signal });
      signal.throwIfAborted();
      const startedAt = performance.now();
      const now = await this.requireOpen(source);
      const lateMs = Math.max(0, now - at) + (performance.now() - startedAt);
      if (lateMs <= mostLateMs(rate)) return;
    }
    throw limited(source, this.#options.mostWaitMs);
  }

  /** The next place. Throws `source_rate_limited`, with the time after which it may be tried. */
  async reserve(source: string, rate: SourceRate): Promise<Place> {
    const nWaiting = this.#nWaiting.get(source) ?? 0;
    if (nWaiting >= MOST_WAITING) throw limited(source, this.#options.mostWaitMs);
    this.#nWaiting.set(source, nWaiting + 1);
    const reserved = (this.#last.get(source) ?? Promise.resolve()).catch(() => undefined).then(() => this.#reserve(source, rate));
    this.#last.set(source, reserved);
    try {
      return await reserved;
    } finally {
      const left = (this.#nWaiting.get(source) ?? 1) - 1;
      if (left > 0) this.#nWaiting.set(source, left);
      else {
        this.#nWaiting.delete(source);
        if (this.#last.get(source) === reserved) this.#last.delete(source);
      }
    }
  }

  /** The time of the database. Throws `source_rate_limited` where the source asked meanwhile to be left alone. */
  async requireOpen(source: string): Promise<number> {
    const row = await this.#read(source);
    if (row === undefined) throw limited(source, this.#options.mostWaitMs);
    const now = Number(row.now);
    if (Number(row.blocked_until) > now) throw limited(source, Number(row.blocked_until) - now);
    return now;
  }

  /** The source asked to be left alone; undefined: it did not say for how long. */
  async block(source: string, askedMs: number | undefined): Promise<void> {
    const ms = Math.round(Math.min(Math.max(askedMs ?? REFUSED_MS, 0), MOST_BLOCKED_MS));
    const until = sql<number>`${this.#now} + ${sql.lit(ms)}`;
    await this.#options.storage.writeUnit(everySource(), (db) => [
      db
        .insertInto('science_pace')
        .values({ source, slot_at: 0, next_at: until, blocked_until: until, interval_ms: 0 })
        .onConflict((conflict) =>
          conflict.column('source').doUpdateSet({
            next_at: this.#later(sql`science_pace.next_at`, until),
            blocked_until: this.#later(sql`science_pace.blocked_until`, until),
          }),
        ),
    ]);
  }

  /** The source takes fewer requests than its documents say. */
  async slowDown(source: string, intervalMs: number): Promise<void> {
    await this.#options.storage.writeUnit(everySource(), (db) => [
      db
        .updateTable('science_pace')
        .set({ interval_ms: Math.round(Math.min(intervalMs, MOST_BLOCKED_MS)) })
        .where('source', '=', source),
    ]);
  }

  async #reserve(source: string, rate: SourceRate): Promise<Place> {
    const { storage, mostWaitMs } = this.#options;
    const intervalMs = intervalOf(rate);
    const now = this.#now;
    const slot = this.#later(sql`science_pace.next_at`, now);
    const interval = this.#later(sql`science_pace.interval_ms`, sql`${sql.lit(intervalMs)}`);
    const [taken] = await storage.writeUnit(everySource(), (db) => [
      db
        .insertInto('science_pace')
        .values({
          source,
          slot_at: now,
          next_at: sql<number>`${now} + ${sql.lit(intervalMs)}`,
          blocked_until: 0,
          interval_ms: 0,
        })
        .onConflict((conflict) =>
          conflict
            .column('source')
            .doUpdateSet({ slot_at: slot, next_at: sql<number>`${slot} + ${interval}` })
            .where(sql<boolean>`${slot} - ${now} <= ${sql.lit(mostWaitMs)}`),
        )
        .returning(['slot_at', now.as('now')]),
    ]);
    const [row] = taken?.rows ?? [];
    const at = Number(row?.['slot_at']);
    if (row !== undefined) return { at, waitMs: Math.max(0, at - Number(row['now'])) };
    const full = await this.#read(source);
    throw limited(source, full === undefined ? mostWaitMs : Number(full.next_at) - Number(full.now));
  }

  #read(source: string): Promise<(PaceRow & { now: number }) | undefined> {
    return this.#options.storage.read(everySource(), (db) =>
      db
        .selectFrom('science_pace')
        .selectAll()
        .select([this.#now.as('now')])
        .where('source', '=', source)
        .executeTakeFirst(),
    );
  }

  get #now(): RawBuilder<number> {
    return databaseTime(this.#options.storage.dialect);
  }

  #later(a: RawBuilder<unknown>, b: RawBuilder<unknown>): RawBuilder<number> {
    return this.#options.storage.dialect === 'sqlite' ? sql<number>`max(${a}, ${b})` : sql<number>`greatest(${a}, ${b})`;
  }
}

function intervalOf({ requests, per_seconds: seconds }: SourceRate): number {
  return Math.ceil(((seconds * 1000) / requests) * MARGIN) + MARGIN_MS;
}

/** Half of what the margins of as many requests as a time takes come to: a late one followed by those in time stays within the rate. */
function mostLateMs(rate: SourceRate): number {
  return (rate.requests * intervalOf(rate) - rate.per_seconds * 1000) / 2;
}

function limited(source: string, waitMs: number) {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return scienceError('source_rate_limited', `${source} takes no request before ${seconds} s have passed.`, {
    retryAfterMs: seconds * 1000,
    extra: { source },
  });
}
