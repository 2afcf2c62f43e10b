/** Writes usage, and sums it up. */
import { type Compilable, type Kysely, sql } from 'kysely';
import type { StorageScope, SystemScope } from '../../../platform/storage/index.ts';
import type { Amounts } from '../limits/subject-use.ts';
import {
  type MeteringStorage,
  type MeteringTables,
  type OpenRequestRow,
  type SubjectKind,
  type UsageKey,
  type UsageRow,
  within,
} from '../tables.ts';

/** A request that is over, with what it used. */
export interface EndedRequest extends UsageKey {
  id: string;
  /** Whether a row for it was written, or is being written. */
  wasOpened: boolean;
  startedAt: number;
  endedAt: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
}

export interface Extension {
  id: string;
  promptTokens: number;
  completionTokens: number;
  touchedAt: number;
}

export interface UsageBatch {
  opened: OpenRequestRow[];
  extended: Extension[];
  ended: EndedRequest[];
}

const HOUR_MS = 60 * 60 * 1000;

/** Requests of the same hour, caller and model come to one row; those that did nothing, to none. */
function usageRows(node: string, ended: readonly EndedRequest[]): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const request of ended) {
    if (request.promptTokens + request.completionTokens === 0) continue;
    const row = rowOf(node, request);
    const key = JSON.stringify([row.tenant, row.hour, row.user_id, row.key_id, row.model, row.operation]);
    const known = rows.get(key);
    if (known === undefined) rows.set(key, row);
    else addTo(known, row);
  }
  return [...rows.values()];
}

function rowOf(node: string, request: EndedRequest): UsageRow {
  const { tenant, user_id, key_id, model, operation, startedAt, endedAt } = request;
  return {
    tenant,
    user_id,
    key_id,
    model,
    operation,
    node,
    hour: endedAt - (endedAt % HOUR_MS),
    requests: 1,
    prompt_tokens: request.promptTokens,
    cached_tokens: request.cachedTokens,
    completion_tokens: request.completionTokens,
    milliseconds: Math.max(0, Math.round(endedAt - startedAt)),
  };
}

function addTo(sum: UsageRow, row: UsageRow): void {
  sum.requests += row.requests;
  sum.prompt_tokens += row.prompt_tokens;
  sum.cached_tokens += row.cached_tokens;
  sum.completion_tokens += row.completion_tokens;
  sum.milliseconds += row.milliseconds;
}

/** Each row has a dozen parameters, and a statement of PostgreSQL takes 65,535. */
const ROWS_A_STATEMENT = 500;
const NOBODY_MS = 7 * 24 * 60 * 60 * 1000;

export type UsageGroup = 'key' | 'user' | 'model' | 'tenant';

export interface UsageQuery {
  by: UsageGroup;
  /** Unix milliseconds; hours that begin in [from, to). */
  from: number;
  to: number;
  /** Only of this account. */
  user: string | undefined;
  /** Groups that follow this one. */
  after: string;
  limit: number;
}

/** Usage over time: of the groups that used the most tokens, and of all together. */
export interface UsageSeriesQuery extends Omit<UsageQuery, 'after' | 'limit'> {
  stepMs: number;
  nGroups: number;
}

export interface UsagePoint {
  /** Begin of the step, Unix milliseconds. */
  at: number;
  /** Null: of all groups. */
  tenant: string | null;
  id: string | null;
  requests: number;
  tokens: number;
}

export interface UsageSum {
  tenant: string;
  id: string;
  requests: number;
  prompt_tokens: number;
  cached_tokens: number;
  completion_tokens: number;
  milliseconds: number;
}

const GROUP_COLUMNS = { key: 'key_id', user: 'user_id', model: 'model', tenant: 'tenant' } as const;
const SUBJECT_COLUMNS = { key: 'key_id', user: 'user_id' } as const;

export class UsageStore {
  readonly #storage: MeteringStorage;

  constructor(storage: MeteringStorage) {
    this.#storage = storage;
  }

  /** In one transaction, under a number that tells later whether it was written. Throws StorageError. */
  async write(everyone: SystemScope, node: string, number: number, batch: UsageBatch): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [
      ...batchStatements(db, node, batch),
      db
        .insertInto('metering_nodes')
        .values({ node, batch: number })
        .onConflict((conflict) => conflict.column('node').doUpdateSet({ batch: number })),
    ]);
  }

  /** The number of the last batch that was written; 0: none. */
  async lastBatch(everyone: SystemScope, node: string): Promise<number> {
    const row = await this.#storage.read(everyone, (db) =>
      db.selectFrom('metering_nodes').select('batch').where('node', '=', node).executeTakeFirst(),
    );
    return row?.batch ?? 0;
  }

  /** Those that a process of this node left open when it ended, and those of nodes that are gone. */
  openRequests(everyone: SystemScope, node: string, now: number): Promise<OpenRequestRow[]> {
    return this.#storage.read(everyone, (db) =>
      db
        .selectFrom('metering_open')
        .selectAll()
        .where((or) => or.or([or('node', '=', node), or('touched_at', '<', now - NOBODY_MS)]))
        .execute(),
    );
  }

  /** Groups in the order of tenant and id. */
  sum(scope: StorageScope, { by, from, to, user, after, limit }: UsageQuery): Promise<UsageSum[]> {
    const group = GROUP_COLUMNS[by];
    const id = sql.ref(group);
    const position = sql`tenant || ' ' || ${id}`;
    const ofUser = user === undefined ? sql`` : sql`and user_id = ${user}`;
    const query = sql<UsageSum>`
      select tenant, ${id} as id, ${total('requests')}, ${total('prompt_tokens')}, ${total('cached_tokens')},
        ${total('completion_tokens')}, ${total('milliseconds')}
      from metering_usage
      where ${within(scope)} and hour >= ${from} and hour < ${to} ${ofUser} and ${position} > ${after}
      group by ${by === 'tenant' ? sql`tenant` : sql`tenant, ${id}`}
      order by ${position} limit ${limit}`;
    return this.#storage.read(scope, async (db) => (await query.execute(db)).rows);
  }

  /** Points of all groups together, and of those that used the most, in the order of time. */
  async series(scope: StorageScope, query: UsageSeriesQuery): Promise<UsagePoint[]> {
    const { by, from, to, user, stepMs, nGroups } = query;
    const id = sql.ref(GROUP_COLUMNS[by]);
    const ofUser = user === undefined ? sql`` : sql`and user_id = ${user}`;
    const rows = sql`from metering_usage where ${within(scope)} and hour >= ${from} and hour < ${to} ${ofUser}`;
    const at = sql`hour - (hour - ${from}) % ${stepMs}`;
    const amounts = sql`${total('requests')}, cast(sum(prompt_tokens + completion_tokens) as bigint) as tokens`;
    const position = sql`tenant || ' ' || ${id}`;
    const all = sql<UsagePoint>`select ${at} as at, null as tenant, null as id, ${amounts} ${rows} group by 1 order by 1`;
    const largest = sql<{ position: string }>`
      select ${position} as position ${rows} group by 1 order by sum(prompt_tokens + completion_tokens) desc, 1 limit ${nGroups}`;
    return this.#storage.read(scope, async (db) => {
      const points = (await all.execute(db)).rows;
      const names = (await largest.execute(db)).rows.map((row) => row.position);
      if (names.length === 0) return points;
      const of = sql<UsagePoint>`
        select ${at} as at, tenant, ${id} as id, ${amounts} ${rows} and ${position} in (${sql.join(names)})
        group by 1, 2, 3 order by 1`;
      return [...points, ...(await of.execute(db)).rows];
    });
  }

  /** What one tenant, user or key used since then: on this node, and on the others. */
  async sumOf(
    scope: StorageScope,
    { tenant, kind, id, since, node }: { tenant: string; kind: SubjectKind; id: string; since: number; node: string },
  ): Promise<{ own: Amounts; others: Amounts }> {
    const ofSubject = kind === 'tenant' ? sql`` : sql`and ${sql.ref(SUBJECT_COLUMNS[kind])} = ${id}`;
    const query = sql<{ is_own: number; requests: number; tokens: number }>`
      select case when node = ${node} then 1 else 0 end as is_own, ${total('requests')},
        cast(sum(prompt_tokens + completion_tokens) as bigint) as tokens
      from metering_usage where tenant = ${tenant} and hour >= ${since} ${ofSubject} group by 1`;
    const rows = await this.#storage.read(scope, async (db) => (await query.execute(db)).rows);
    const amounts = (isOwn: number): Amounts => {
      const { requests = 0, tokens = 0 } = rows.find((row) => Number(row.is_own) === isOwn) ?? {};
      return { requests, tokens };
    };
    return { own: amounts(1), others: amounts(0) };
  }

  async removeBefore(everyone: SystemScope, hour: number): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [db.deleteFrom('metering_usage').where('hour', '<', hour)]);
  }
}

/** A sum of bigints is a decimal in PostgreSQL unless it is cast. */
function total(column: string) {
  return sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(column)}`;
}

function batchStatements(db: Kysely<MeteringTables>, node: string, { opened, extended, ended }: UsageBatch): Compilable[] {
  const ids = ended.filter(({ wasOpened }) => wasOpened).map(({ id }) => id);
  return [
    ...chunks(opened).map((rows) => db.insertInto('metering_open').values(rows)),
    ...extended.map(({ id, promptTokens, completionTokens, touchedAt }) =>
      db
        .updateTable('metering_open')
        .set({ prompt_tokens: promptTokens, completion_tokens: completionTokens, touched_at: touchedAt })
        .where('id', '=', id),
    ),
    ...chunks(ids).map((some) => db.deleteFrom('metering_open').where('id', 'in', some)),
    ...chunks(usageRows(node, ended)).map((rows) => addUsage(db, rows)),
  ];
}

function addUsage(db: Kysely<MeteringTables>, rows: UsageRow[]): Compilable {
  return db
    .insertInto('metering_usage')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['tenant', 'hour', 'node', 'user_id', 'key_id', 'model', 'operation']).doUpdateSet((row) => ({
        requests: row('metering_usage.requests', '+', row.ref('excluded.requests')),
        prompt_tokens: row('metering_usage.prompt_tokens', '+', row.ref('excluded.prompt_tokens')),
        cached_tokens: row('metering_usage.cached_tokens', '+', row.ref('excluded.cached_tokens')),
        completion_tokens: row('metering_usage.completion_tokens', '+', row.ref('excluded.completion_tokens')),
        milliseconds: row('metering_usage.milliseconds', '+', row.ref('excluded.milliseconds')),
      })),
    );
}

function chunks<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / ROWS_A_STATEMENT) }, (_, i) =>
    all.slice(i * ROWS_A_STATEMENT, (i + 1) * ROWS_A_STATEMENT),
  );
}
