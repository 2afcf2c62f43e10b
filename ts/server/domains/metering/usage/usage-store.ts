/** Writes usage, and sums it up. */
import { type Compilable, type Kysely, sql } from 'kysely';
import type { ProviderUse } from '../../../native/llama-shapes.ts';
import type { StorageScope, SystemScope } from '../../../platform/storage/index.ts';
import type { Amounts } from '../limits/subject-use.ts';
import {
  type MeteringStorage,
  type MeteringTables,
  type OpenRequestRow,
  type SubjectKind,
  USAGE_AMOUNTS,
  USAGE_KEY,
  type UsageKey,
  type UsageRow,
  within,
} from '../tables.ts';

/** A request that is over, with what it used. */
export interface EndedRequest extends UsageKey {
  id: string;
  /** Whether a row for it was written, or is being written. */
  wasOpened: boolean;
  /** It counts all the same. */
  hasNoTokens?: true | undefined;
  startedAt: number;
  endedAt: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  provider?: ProviderUse | undefined;
  audioMs?: number | undefined;
  characters?: number | undefined;
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
    if (request.promptTokens + request.completionTokens === 0 && !request.hasNoTokens) continue;
    const row = rowOf(node, request);
    const key = JSON.stringify(USAGE_KEY.map((name) => row[name]));
    const known = rows.get(key);
    if (known === undefined) rows.set(key, row);
    else addTo(known, row);
  }
  return [...rows.values()];
}

function rowOf(node: string, request: EndedRequest): UsageRow {
  const { tenant, user_id, key_id, model, operation, startedAt, endedAt, provider } = request;
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
    backend: provider?.backend ?? '',
    currency: provider?.costMicros === undefined ? '' : provider.currency,
    estimated: provider?.isEstimated ? 1 : 0,
    cost_micros: provider?.costMicros ?? 0,
    reasoning_tokens: provider?.nReasoningTokens ?? 0,
    cache_write_5m_tokens: provider?.nCacheWrite5mTokens ?? 0,
    cache_write_1h_tokens: provider?.nCacheWrite1hTokens ?? 0,
    audio_tokens: provider?.nAudioTokens ?? 0,
    image_tokens: provider?.nImageTokens ?? 0,
    audio_ms: request.audioMs ?? 0,
    characters: request.characters ?? 0,
  };
}

function addTo(sum: UsageRow, row: UsageRow): void {
  for (const name of USAGE_AMOUNTS) sum[name] += row[name];
}

/** Null, which the column does not take, for a batch that is no later than the last one. */
const laterBatch = sql<number>`case when metering_nodes.batch < excluded.batch then excluded.batch end`;

/** Each row has two dozen parameters, and a statement of PostgreSQL takes 65,535. */
const ROWS_A_STATEMENT = 500;
const NOBODY_MS = 7 * 24 * 60 * 60 * 1000;

export type UsageGroup = 'key' | 'user' | 'model' | 'tenant' | 'backend';

interface UsageQuery {
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
interface UsageSeriesQuery extends Omit<UsageQuery, 'after' | 'limit'> {
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
  reasoning_tokens: number;
  cache_write_5m_tokens: number;
  cache_write_1h_tokens: number;
  audio_tokens: number;
  image_tokens: number;
  audio_ms: number;
  characters: number;
  cost_micros: number;
  /** The only currency of the group, or the first and the last of several; null: nothing of it has a price. */
  currency: string | null;
  last_currency: string | null;
  estimated_requests: number;
  /** Of providers, whose price was not known. */
  unpriced_requests: number;
}

const GROUP_COLUMNS = { key: 'key_id', user: 'user_id', model: 'model', tenant: 'tenant', backend: 'backend' } as const;
const SUBJECT_COLUMNS = { key: 'key_id', user: 'user_id' } as const;

export class UsageStore {
  readonly #storage: MeteringStorage;

  constructor(storage: MeteringStorage) {
    this.#storage = storage;
  }

  /**
   * In one transaction, under a number that tells later whether it was written. Throws StorageError; `constraint_violation` where the database has a batch
   * of that number, and nothing is written then.
   */
  async write(everyone: SystemScope, node: string, number: number, batch: UsageBatch): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [
      ...batchStatements(db, node, batch),
      db
        .insertInto('metering_nodes')
        .values({ node, batch: number })
        .onConflict((conflict) => conflict.column('node').doUpdateSet({ batch: laterBatch })),
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
        ${total('completion_tokens')}, ${total('milliseconds')}, ${total('reasoning_tokens')},
        ${total('cache_write_5m_tokens')}, ${total('cache_write_1h_tokens')}, ${total('audio_tokens')}, ${total('image_tokens')},
        ${total('audio_ms')}, ${total('characters')},
        ${total('cost_micros')}, min(nullif(currency, '')) as currency, max(nullif(currency, '')) as last_currency,
        cast(sum(estimated * requests) as bigint) as estimated_requests,
        cast(sum(case when backend <> '' and currency = '' then requests else 0 end) as bigint) as unpriced_requests
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
    const query = sql<{ is_own: number; requests: number; tokens: number; cost: number }>`
      select case when node = ${node} then 1 else 0 end as is_own, ${total('requests')},
        cast(sum(prompt_tokens + completion_tokens) as bigint) as tokens, cast(sum(cost_micros) as bigint) as cost
      from metering_usage where tenant = ${tenant} and hour >= ${since} ${ofSubject} group by 1`;
    const rows = await this.#storage.read(scope, async (db) => (await query.execute(db)).rows);
    const amounts = (isOwn: number): Amounts => {
      const { requests = 0, tokens = 0, cost = 0 } = rows.find((row) => Number(row.is_own) === isOwn) ?? {};
      return { requests, tokens, cost };
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
      conflict
        .columns(USAGE_KEY)
        .doUpdateSet((row) =>
          Object.fromEntries(
            USAGE_AMOUNTS.map((name) => [name, row(`metering_usage.${name}`, '+', row.ref(`excluded.${name}`))]),
          ),
        ),
    );
}

function chunks<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / ROWS_A_STATEMENT) }, (_, i) =>
    all.slice(i * ROWS_A_STATEMENT, (i + 1) * ROWS_A_STATEMENT),
  );
}
