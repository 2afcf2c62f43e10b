/** Knowledge bases of a tenant. Those that hold the files of a conversation are found by `OwnedBaseStore` alone. */
import { type Kysely, sql } from 'kysely';
import type { Storage, StorageAccess, SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import type { EmbeddingSource } from '../../retrieval/index.ts';
import { knowledgeError } from '../errors.ts';
import type { KnowledgeBase, ListedBase } from '../knowledge-base.ts';
import { newBaseId } from './base-id.ts';
import { toBase } from './rows.ts';
import type { KnowledgeTables } from './tables.ts';

export interface NewBase {
  readonly namespace: string;
  readonly embeddingModel: string;
  readonly embeddingSource: EmbeddingSource;
  /** The family that its model wants; undefined: none. */
  readonly prefixes?: string | undefined;
  readonly createdAt: number;
  /** Default: a new one. */
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly expiresDays?: number | undefined;
}

export interface BasePage {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Number of the base to begin behind, in this order. */
  readonly after?: number | undefined;
  /** Of the base to end before. */
  readonly before?: number | undefined;
}

/** What can be changed of a base; undefined stays as it is. */
export interface BaseChange {
  readonly title?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Null: it stays for good. */
  readonly expiresDays?: number | null | undefined;
}

const HOUR_MS = 3_600_000;

export class BaseStore {
  readonly #access: StorageAccess<KnowledgeTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<KnowledgeTables>();
  }

  async find(scope: TenantScope, namespace: string): Promise<KnowledgeBase | undefined> {
    const row = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_bases')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('namespace', '=', namespace)
        .where('removed', '=', sql.lit(0))
        .where('owner', 'is', null)
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : toBase(row);
  }

  /** By the id that OpenAI's routes have for it. */
  async findById(scope: TenantScope, id: string): Promise<KnowledgeBase | undefined> {
    const row = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_bases')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('public_id', '=', id)
        .where('removed', '=', sql.lit(0))
        .where('owner', 'is', null)
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : toBase(row);
  }

  /** In the order in which they were made. */
  async page(scope: TenantScope, { limit, order, after, before }: BasePage): Promise<KnowledgeBase[]> {
    const [behind, ahead] = order === 'asc' ? (['>', '<'] as const) : (['<', '>'] as const);
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_bases')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('removed', '=', sql.lit(0))
        .where('owner', 'is', null)
        .$if(after !== undefined, (query) => query.where('no', behind, after ?? 0))
        .$if(before !== undefined, (query) => query.where('no', ahead, before ?? 0))
        .orderBy('no', order)
        .limit(limit)
        .execute(),
    );
    return rows.map(toBase);
  }

  async change(scope: TenantScope, base: KnowledgeBase, { title, metadata, expiresDays }: BaseChange): Promise<void> {
    const set = {
      ...(title === undefined ? {} : { title }),
      ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
      ...(expiresDays === undefined ? {} : { expires_days: expiresDays }),
    };
    if (Object.keys(set).length === 0) return;
    await this.#access.writeUnit(scope, (db) => [
      db.updateTable('data_bases').set(set).where('tenant', '=', scope.tenant).where('no', '=', base.no),
    ]);
  }

  /** Notes that bases that expire are in use. */
  async touch(scope: TenantScope, bases: readonly KnowledgeBase[], now: number): Promise<void> {
    const stale = bases.filter(({ expiresDays, usedAt }) => expiresDays !== undefined && usedAt < now - HOUR_MS);
    if (stale.length === 0) return;
    const numbers = stale.map(({ no }) => no);
    await this.#access.writeUnit(scope, (db) => [
      db.updateTable('data_bases').set({ used_at: now }).where('tenant', '=', scope.tenant).where('no', 'in', numbers),
    ]);
  }

  /** The one that is there, when another request was quicker. Throws `too_many_knowledge_bases`. */
  async insert(scope: TenantScope, base: NewBase, maxBases: number): Promise<{ base: KnowledgeBase; isNew: boolean }> {
    return await this.#access.write(scope, async (tx) => {
      const there = await tx
        .selectFrom('data_bases')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('namespace', '=', base.namespace)
        .where('removed', '=', sql.lit(0))
        .executeTakeFirst();
      if (there !== undefined) return { base: toBase(there), isNew: false };
      await requireFewer(tx, scope, maxBases);
      return { base: await insertBase(tx, scope, base), isNew: true };
    });
  }

  /** By name. */
  async list(scope: TenantScope): Promise<ListedBase[]> {
    const rows = await this.#access.read(scope, (db) =>
      db
        .selectFrom('data_bases')
        .leftJoin('data_documents as d', (join) => join.onRef('d.base_no', '=', 'data_bases.no').on('d.state', '=', 'ready'))
        .selectAll('data_bases')
        .select([
          sql<number>`count(d.no)`.as('n_documents'),
          sql<number>`coalesce(sum(d.n_chunks), 0)`.as('n_chunks'),
          sql<number>`coalesce(sum(d.bytes), 0)`.as('n_bytes'),
        ])
        .where('data_bases.tenant', '=', scope.tenant)
        .where('data_bases.removed', '=', sql.lit(0))
        .where('data_bases.owner', 'is', null)
        .groupBy('data_bases.no')
        .orderBy('data_bases.namespace')
        .execute(),
    );
    return rows.map((row) => ({
      ...toBase(row),
      nDocuments: Number(row.n_documents),
      nChunks: Number(row.n_chunks),
      sizeBytes: Number(row.n_bytes),
    }));
  }

  /** Of all tenants, those with documents. */
  async listFilled(scope: SystemScope): Promise<{ readonly tenant: string; readonly collection: KnowledgeBase }[]> {
    const rows = await this.#access.read(scope, (db) =>
      db.selectFrom('data_bases').selectAll().where('removed', '=', sql.lit(0)).where('version', '>', 0).execute(),
    );
    return rows.map((row) => ({ tenant: row.tenant, collection: toBase(row) }));
  }

  /** Nobody sees it from now on; its rows are removed later. False: it is not there. */
  async remove(scope: TenantScope, { no }: Pick<KnowledgeBase, 'no'>): Promise<boolean> {
    const [result] = await this.#access.writeUnit(scope, (db) => [
      db
        .updateTable('data_bases')
        .set({ removed: 1 })
        .where('tenant', '=', scope.tenant)
        .where('no', '=', no)
        .where('removed', '=', 0),
    ]);
    return (result?.affectedRows ?? 0) > 0;
  }

  /** Binds the base to vectors of these dimensions, or finds that it is. Throws `embedding_dimension_mismatch`. */
  async bindDimensions(scope: TenantScope, base: KnowledgeBase, dimensions: number): Promise<void> {
    if (base.dimensions === dimensions) return;
    const bound = await this.#access.write(scope, async (tx) => {
      await tx
        .updateTable('data_bases')
        .set({ dimensions })
        .where('tenant', '=', scope.tenant)
        .where('no', '=', base.no)
        .where('dimensions', 'is', null)
        .execute();
      const row = await tx
        .selectFrom('data_bases')
        .select('dimensions')
        .where('tenant', '=', scope.tenant)
        .where('no', '=', base.no)
        .executeTakeFirst();
      return row?.dimensions;
    });
    if (bound === dimensions) return;
    throw knowledgeError(
      'embedding_dimension_mismatch',
      `${base.embeddingModel} now makes vectors of ${dimensions} dimensions, and the knowledge base has ${bound ?? 'none'}; was the model replaced?`,
    );
  }
}

/** `owner`: whose files of a conversation it will hold. */
export async function insertBase(
  tx: Kysely<KnowledgeTables>,
  { tenant }: TenantScope,
  base: NewBase,
  owner: string | null = null,
): Promise<KnowledgeBase> {
  const row = await tx
    .insertInto('data_bases')
    .values({
      tenant,
      namespace: base.namespace,
      embedding_model: base.embeddingModel,
      embedding_source: base.embeddingSource,
      embedding_prefixes: base.prefixes ?? null,
      dimensions: null,
      version: 0,
      swept_version: 0,
      removed: 0,
      created_at: base.createdAt,
      public_id: base.id ?? newBaseId(),
      title: base.title ?? null,
      metadata: base.metadata === undefined ? null : JSON.stringify(base.metadata),
      expires_days: base.expiresDays ?? null,
      used_at: null,
      owner,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toBase(row);
}

async function requireFewer(tx: Kysely<KnowledgeTables>, { tenant }: TenantScope, maxBases: number): Promise<void> {
  const { n } = await tx
    .selectFrom('data_bases')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('tenant', '=', tenant)
    .where('removed', '=', sql.lit(0))
    .where('owner', 'is', null)
    .executeTakeFirstOrThrow();
  if (Number(n) < maxBases) return;
  throw knowledgeError(
    'too_many_knowledge_bases',
    `The tenant has ${n} knowledge bases, and at most ${maxBases} are kept. Remove some, or ask an administrator to raise data.tenant_bases.`,
  );
}
