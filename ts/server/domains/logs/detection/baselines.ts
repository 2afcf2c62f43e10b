/** Baselines: lines of each source and class by the hour of the week. A source that is loud, quiet or missing alerts. */
import type { NamedCount } from '../../../platform/series/series-registry.ts';
import { column, type Migration, type StorageAccess, type SystemScope } from '../../../platform/storage/index.ts';
import type { MarkedAlert } from './incident-store.ts';

interface LineCountRow {
  node: string;
  sender: string;
  class: string;
  /** The begin of the hour in UTC, Unix milliseconds. */
  at: number;
  lines: number;
}

type BaselineStorage = StorageAccess<{ logs_line_counts: LineCountRow }>;

/** Lines by sender, class and hour of reception: all of the hour so far. */
export interface LineCount {
  sender: string;
  className: string;
  /** `YYYY-MM-DDTHH`, in UTC. */
  hour: string;
  lines: number;
}

type Deviation = 'loud' | 'quiet' | 'missing';

const HOUR_MS = 3_600_000;
const WEEK_MS = 168 * HOUR_MS;
const WEEKS = 8;
const KEPT_MS = (WEEKS + 1) * WEEK_MS;
/** A source that is younger is not judged. */
const SILENT_MS = 2 * WEEK_MS;
/** Lines of an hour may still be read a while after its end. */
const JUDGED_AFTER_MS = 10 * 60_000;
const ROWS_A_STATEMENT = 200;
const SENDERS_A_STATEMENT = 1_000;
/** A normal distribution's deviation is so many times its median absolute deviation. */
const OF_MAD = 1.4826;

export const baselineMigration: Migration = {
  id: 3,
  name: 'create counts of lines',
  up: async (schema) => {
    await schema.table('logs_line_counts', {
      columns: { node: column.id(), sender: column.id(), class: column.id(), at: column.timestamp(), lines: column.integer() },
      primaryKey: ['node', 'at', 'sender', 'class'],
      clustered: true,
    });
  },
};

/** Undefined: nothing deviates, or too little is known. `samples`: the same hour of weeks before, and the hours beside it. */
export function deviationOf(lines: number, samples: readonly number[]): Deviation | undefined {
  if (samples.length < 6) return undefined;
  const median = medianOf(samples);
  const mad = medianOf(samples.map((sample) => Math.abs(sample - median)));
  // Counts of few lines vary by themselves about as much as their root.
  const spread = Math.max(OF_MAD * mad, Math.sqrt(median), 1);
  if (lines >= 100 && lines > 3 * median && lines > median + 8 * spread) return 'loud';
  if (lines === 0) return median >= 5 && Math.min(...samples) > 0 ? 'missing' : undefined;
  return median >= 50 && lines < median / 5 && lines < median - 4 * spread ? 'quiet' : undefined;
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

export class Baselines {
  readonly #storage: BaselineStorage;
  readonly #node: () => string;
  #judgedMs = 0;

  constructor(storage: BaselineStorage, node: () => string) {
    this.#storage = storage;
    this.#node = node;
  }

  /** Takes the place of what was counted of these hours before. */
  async count(everyone: SystemScope, counts: readonly LineCount[]): Promise<void> {
    const node = this.#node();
    const rows = counts.map(({ sender, className, hour, lines }): LineCountRow => {
      return { node, sender, class: className, at: Date.parse(`${hour}:00:00Z`), lines };
    });
    const statements = Array.from({ length: Math.ceil(rows.length / ROWS_A_STATEMENT) }, (_, i) =>
      rows.slice(i * ROWS_A_STATEMENT, (i + 1) * ROWS_A_STATEMENT),
    );
    await this.#storage.writeUnit(everyone, (db) =>
      statements.map((some) =>
        db
          .insertInto('logs_line_counts')
          .values(some)
          .onConflict((conflict) =>
            conflict.columns(['node', 'at', 'sender', 'class']).doUpdateSet((eb) => ({ lines: eb.ref('excluded.lines') })),
          ),
      ),
    );
  }

  /** Sums of the lines of some senders at or after `since`, on all nodes, by class and hour. @param isOwn of a sender's address. */
  async sums(everyone: SystemScope, since: number, isOwn: (sender: string) => boolean): Promise<NamedCount[]> {
    const senders = await this.#storage.read(everyone, (db) =>
      db.selectFrom('logs_line_counts').select('sender').distinct().where('at', '>=', since).execute(),
    );
    const own = senders.map(({ sender }) => sender).filter(isOwn);
    const counts: NamedCount[] = [];
    for (let from = 0; from < own.length; from += SENDERS_A_STATEMENT) {
      const rows = await this.#storage.read(everyone, (db) =>
        db
          .selectFrom('logs_line_counts')
          .select(({ fn }) => ['class', 'at', fn.sum<number>('lines').as('lines')])
          .where('at', '>=', since)
          .where('sender', 'in', own.slice(from, from + SENDERS_A_STATEMENT))
          .groupBy(['class', 'at'])
          .orderBy('class')
          .execute(),
      );
      counts.push(...rows.map((row) => ({ name: row.class, hour: Number(row.at), n: Number(row.lines) })));
    }
    return counts;
  }

  /** Judges the last hour that is over, once; none: it was judged, or nothing deviates. What is judged again behind a restart alerts no second time. */
  async judge(everyone: SystemScope, nowMs: number): Promise<MarkedAlert[]> {
    const hourMs = Math.floor((nowMs - JUDGED_AFTER_MS) / HOUR_MS) * HOUR_MS - HOUR_MS;
    if (hourMs <= this.#judgedMs) return [];
    const alerts = await this.judgeHour(everyone, hourMs);
    await this.#storage.writeUnit(everyone, (db) => [db.deleteFrom('logs_line_counts').where('at', '<', nowMs - KEPT_MS)]);
    this.#judgedMs = hourMs;
    return alerts;
  }

  /** Judges one hour, which is named by its begin. */
  async judgeHour(everyone: SystemScope, hourMs: number): Promise<MarkedAlert[]> {
    const node = this.#node();
    const sampled = Array.from({ length: WEEKS }, (_, week) =>
      [-1, 0, 1].map((beside) => hourMs - (week + 1) * WEEK_MS + beside * HOUR_MS),
    );
    const hours = sampled.flat();
    const { first, rows } = await this.#storage.read(everyone, async (db) => ({
      first: await db
        .selectFrom('logs_line_counts')
        .select(({ fn }) => ['sender', 'class', fn.min('at').as('at')])
        .where('node', '=', node)
        .groupBy(['sender', 'class'])
        .execute(),
      rows: await db
        .selectFrom('logs_line_counts')
        .selectAll()
        .where('node', '=', node)
        .where('at', 'in', [...hours, hourMs])
        .execute(),
    }));
    // A node that collected nothing at all was down, which is not the fault of its sources.
    if (!rows.some(({ at, lines }) => at === hourMs && lines > 0)) return [];
    const lines = new Map(rows.map((row) => [`${row.sender}\n${row.class}\n${row.at}`, row.lines]));
    return first.flatMap(({ sender, class: className, at }) => {
      const sinceMs = Number(at);
      if (sinceMs > hourMs - SILENT_MS) return [];
      const of = (hour: number): number => lines.get(`${sender}\n${className}\n${hour}`) ?? 0;
      const samples = hours.filter((hour) => hour >= sinceMs).map(of);
      const deviation = deviationOf(of(hourMs), samples);
      return deviation === undefined ? [] : [alertOf(deviation, sender, className, hourMs)];
    });
  }
}

function alertOf(deviation: Deviation, sender: string, className: string, hourMs: number): MarkedAlert {
  return {
    rule: `baseline-${deviation}`,
    level: deviation === 'missing' ? 'medium' : 'low',
    author: 'svc',
    family: `baseline-${deviation}`,
    entity: `${sender} ${className}`,
    atMs: hourMs + HOUR_MS,
    uuid: `${sender} ${className} ${new Date(hourMs).toISOString().slice(0, 13)}`,
    uuids: [],
    addresses: [sender],
    count: 1,
    marks: [],
  };
}
