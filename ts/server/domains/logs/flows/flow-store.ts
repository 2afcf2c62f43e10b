/** Volumes of flows by minute, hour and day on disk. */
import { sql } from 'kysely';
import { column, type Migration, type StorageAccess, type SystemScope } from '../../../platform/storage/index.ts';

export const GRAINS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
export type Grain = keyof typeof GRAINS;

/** Volumes are counted by these. */
export interface FlowKey {
  exporter: string;
  src: string;
  dst: string;
  proto: number;
  /** The lower of both ports, which is the server's in most cases. */
  port: number;
}

interface Volume {
  bytes: number;
  packets: number;
  flows: number;
}

export interface FlowRow extends FlowKey, Volume {
  grain: Grain;
  /** The begin of the minute, hour or day in UTC, Unix milliseconds. */
  at: number;
  /** The exporter said it last; 0: it does not say. */
  sampling: number;
}

export const FLOW_VIEWS = ['src', 'dst', 'pair', 'port', 'proto', 'exporter', 'time'] as const;
type FlowView = (typeof FLOW_VIEWS)[number];

interface FlowTables {
  logs_flows: FlowRow;
}
type FlowStorage = StorageAccess<FlowTables>;

const COLUMNS: Readonly<Record<FlowView, readonly ('src' | 'dst' | 'proto' | 'port' | 'exporter' | 'at')[]>> = {
  src: ['src'],
  dst: ['dst'],
  pair: ['src', 'dst'],
  port: ['proto', 'port'],
  proto: ['proto'],
  exporter: ['exporter'],
  time: ['at'],
};
const KEPT_MS: Readonly<Record<Grain, number>> = { minute: 2 * GRAINS.day, hour: 62 * GRAINS.day, day: 800 * GRAINS.day };
const ROWS_A_STATEMENT = 200;
const MOST = Number.MAX_SAFE_INTEGER;

export const flowMigration: Migration = {
  id: 2,
  name: 'create volumes of flows',
  up: async (schema) => {
    await schema.table('logs_flows', {
      columns: {
        grain: column.text(),
        at: column.timestamp(),
        exporter: column.id(),
        src: column.id(),
        dst: column.id(),
        proto: column.integer(),
        port: column.integer(),
        bytes: column.integer(),
        packets: column.integer(),
        flows: column.integer(),
        sampling: column.integer(),
      },
      primaryKey: ['grain', 'at', 'exporter', 'src', 'dst', 'proto', 'port'],
      clustered: true,
    });
  },
};

export class FlowStore {
  readonly #storage: FlowStorage;

  constructor(storage: FlowStorage) {
    this.#storage = storage;
  }

  /** Adds to what is there: all of it, or nothing. */
  async add(everyone: SystemScope, rows: readonly FlowRow[]): Promise<void> {
    const statements = Array.from({ length: Math.ceil(rows.length / ROWS_A_STATEMENT) }, (_, i) =>
      rows.slice(i * ROWS_A_STATEMENT, (i + 1) * ROWS_A_STATEMENT),
    );
    await this.#storage.writeUnit(everyone, (db) =>
      statements.map((some) =>
        db
          .insertInto('logs_flows')
          .values(some)
          .onConflict((conflict) =>
            conflict.columns(['grain', 'at', 'exporter', 'src', 'dst', 'proto', 'port']).doUpdateSet((eb) => ({
              bytes: added('bytes'),
              packets: added('packets'),
              flows: added('flows'),
              sampling: eb.ref('excluded.sampling'),
            })),
          ),
      ),
    );
  }

  /** The largest first, or in the order of time. */
  async list(
    everyone: SystemScope,
    { grain, fromMs, toMs, by, limit }: { grain: Grain; fromMs: number; toMs: number; by: FlowView; limit: number },
  ): Promise<(Partial<FlowKey> & Volume & { at?: number; sampling: number })[]> {
    const columns = COLUMNS[by];
    const rows = await this.#storage.read(everyone, (db) =>
      db
        .selectFrom('logs_flows')
        .select([...columns])
        .select([
          sumOf('bytes').as('bytes'),
          sumOf('packets').as('packets'),
          sumOf('flows').as('flows'),
          sql<number>`max(sampling)`.as('sampling'),
        ])
        .where('grain', '=', grain)
        .where('at', '>=', fromMs)
        .where('at', '<', toMs)
        .groupBy([...columns])
        .orderBy(by === 'time' ? sql`at` : sql`bytes desc`)
        .limit(limit)
        .execute(),
    );
    return rows.map((row) => ({ ...row, ...volumeOf(row), sampling: Number(row.sampling) }));
  }

  async total(everyone: SystemScope, { grain, fromMs, toMs }: { grain: Grain; fromMs: number; toMs: number }): Promise<Volume> {
    const row = await this.#storage.read(everyone, (db) =>
      db
        .selectFrom('logs_flows')
        .select([sumOf('bytes').as('bytes'), sumOf('packets').as('packets'), sumOf('flows').as('flows')])
        .where('grain', '=', grain)
        .where('at', '>=', fromMs)
        .where('at', '<', toMs)
        .executeTakeFirst(),
    );
    return volumeOf(row ?? { bytes: 0, packets: 0, flows: 0 });
  }

  async purge(everyone: SystemScope, nowMs: number): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) =>
      (Object.keys(GRAINS) as Grain[]).map((grain) =>
        db
          .deleteFrom('logs_flows')
          .where('grain', '=', grain)
          .where('at', '<', nowMs - KEPT_MS[grain]),
      ),
    );
  }
}

/** The columns hold no more than an exact number. */
function added(name: keyof Volume) {
  const [old, more] = [sql.ref(`logs_flows.${name}`), sql.ref(`excluded.${name}`)];
  return sql<number>`case when ${old} > ${sql.lit(MOST)} - ${more} then ${sql.lit(MOST)} else ${old} + ${more} end`;
}

/** Sums of whole numbers overflow on one database and become texts on the other. */
function sumOf(name: keyof Volume) {
  return sql<number>`coalesce(sum(cast(${sql.ref(name)} as double precision)), 0)`;
}

function volumeOf({ bytes, packets, flows }: Volume): Volume {
  const exact = (value: number): number => Math.min(Math.round(Number(value)), MOST);
  return { bytes: exact(bytes), packets: exact(packets), flows: exact(flows) };
}
