/**
 * When the log of a SQLite database is copied into its file, and when it is emptied. Until it is emptied, what was erased or overwritten can
 * still be read in it, so that is not left to how much is written: a while after a commit at the latest it is tried, until it works.
 */
import { BUSY_TIMEOUT_MS, type Connection } from './connection.ts';

/** The log is copied into the database file when it has this many pages that are not there yet. */
const CHECKPOINT_PAGES = 2_000;
interface LogTimes {
  /** From the first commit into an empty log to the first attempt to empty it. */
  readonly firstMs: number;
  /** Between attempts, while somebody reads what only the log has. */
  readonly againMs: number;
}

const TIMES: LogTimes = { firstMs: 3_000, againMs: 500 };
/** Without waiting it may never work, where reads overlap all the time; while it waits, so do writes. */
const WAITS: readonly { readonly afterMs: number; readonly waitMs: number }[] = [
  { afterMs: 12_000, waitMs: 1_000 },
  { afterMs: 6_000, waitMs: 100 },
  { afterMs: 0, waitMs: 0 },
];

export class WriteAheadLog {
  readonly #connection: Connection;
  readonly #onDue: () => void;
  readonly #times: LogTimes;
  /** When something was written into the empty log. */
  #filledAt: number | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** What an earlier process left in the log counts as well. `onDue` is to call `tend()` as soon as no transaction is open. */
  constructor(connection: Connection, onDue: () => void, times = TIMES) {
    this.#connection = connection;
    this.#onDue = onDue;
    this.#times = times;
    this.noteCommit();
  }

  noteCommit(): void {
    if (this.#filledAt !== undefined) return;
    this.#filledAt = performance.now();
    this.#schedule(this.#times.firstMs);
  }

  /** Outside of transactions. Throws what the disk says. */
  tend(): void {
    if (this.#filledAt !== undefined && performance.now() >= this.#dueAt) this.#empty(this.#filledAt);
    else this.#copyWhenLarge();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #empty(filledAt: number): void {
    const ageMs = performance.now() - filledAt;
    const waitMs = WAITS.find(({ afterMs }) => ageMs >= afterMs)?.waitMs ?? 0;
    if (this.#truncate(waitMs)) this.#filledAt = undefined;
    // Writes wait while it waits, so that it does for a tenth of the time at most.
    else this.#schedule(this.#times.againMs + 9 * waitMs);
  }

  /** False: somebody reads it. */
  #truncate(waitMs: number): boolean {
    const { database } = this.#connection;
    database.pragma(`busy_timeout = ${waitMs}`);
    try {
      const [state] = database.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
      return state?.busy === 0;
    } finally {
      database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  #copyWhenLarge(): void {
    const [state] = this.#connection.run({ sql: 'PRAGMA wal_checkpoint(NOOP)', parameters: [] }).rows;
    if (Number(state?.['log']) - Number(state?.['checkpointed']) >= CHECKPOINT_PAGES)
      this.#connection.run({ sql: 'PRAGMA wal_checkpoint(PASSIVE)', parameters: [] });
  }

  #schedule(inMs: number): void {
    this.#dueAt = performance.now() + inMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // A timer counts whole milliseconds, so that it may come a little before the time that it was set for.
      this.#dueAt = 0;
      this.#onDue();
    }, inMs).unref();
  }
}
