/** Knowledge bases that hold the files of one conversation. No name of a base leads to them: theirs have a slash, which no other may. */
import { type Kysely, sql } from 'kysely';
import type { Storage, StorageAccess, SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import type { Uploader } from '../../files/index.ts';
import type { KnowledgeBase } from '../knowledge-base.ts';
import { insertBase, type NewBase } from './base-store.ts';
import { type BaseRow, toBase } from './rows.ts';
import type { KnowledgeTables } from './tables.ts';

const PREFIX = 'conversation/';

/** The name of the base whose conversation has this key. */
export function ownedNamespace(key: string): string {
  return `${PREFIX}${key}`;
}

interface OwnedBase {
  readonly tenant: string;
  readonly base: KnowledgeBase;
}

export class OwnedBaseStore {
  readonly #access: StorageAccess<KnowledgeTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<KnowledgeTables>();
  }

  /** Undefined: it is not there, or is somebody else's. */
  async find(owner: Uploader, key: string): Promise<KnowledgeBase | undefined> {
    return one(await this.#access.read(owner, (db) => ownedBy(db, owner, key).executeTakeFirst()));
  }

  /** The one that is there, when another request was quicker. */
  async insert(owner: Uploader, key: string, base: Omit<NewBase, 'namespace'>): Promise<KnowledgeBase> {
    return await this.#access.write(owner, async (tx) => {
      const there = one(await ownedBy(tx, owner, key).executeTakeFirst());
      return there ?? (await insertBase(tx, owner, { ...base, namespace: ownedNamespace(key) }, owner.subject));
    });
  }

  /** Of work that goes on behind the request that began it, for whoever that was. */
  async findAny(scope: TenantScope, namespace: string): Promise<KnowledgeBase | undefined> {
    if (!namespace.startsWith(PREFIX)) return undefined;
    const query = (db: Kysely<KnowledgeTables>) =>
      owned(db).where('tenant', '=', scope.tenant).where('namespace', '=', namespace);
    return one(await this.#access.read(scope, (db) => query(db).executeTakeFirst()));
  }

  async list(scope: TenantScope): Promise<KnowledgeBase[]> {
    const rows = await this.#access.read(scope, (db) => owned(db).where('tenant', '=', scope.tenant).execute());
    return rows.map(toBase);
  }

  /** Of one owner, in whatever tenant. */
  async listOf(everyone: SystemScope, subject: string): Promise<OwnedBase[]> {
    const rows = await this.#access.read(everyone, (db) => owned(db).where('owner', '=', subject).execute());
    return rows.map(toOwned);
  }

  /** Of the conversations with these keys, which are unique, in whatever tenant. */
  async listByKeys(everyone: SystemScope, keys: readonly string[]): Promise<OwnedBase[]> {
    const names = keys.map(ownedNamespace);
    const rows = await this.#access.read(everyone, (db) => owned(db).where('namespace', 'in', names).execute());
    return rows.map(toOwned);
  }

  /** Of the files of all conversations of the owner, or of the one with this key: those that are there, and those that a job reads. */
  async size(owner: Uploader, key?: string): Promise<{ count: number; bytes: number }> {
    const row = await this.#access.read(owner, (db) =>
      db
        .selectFrom('data_documents as d')
        .innerJoin('data_bases as b', 'b.no', 'd.base_no')
        .select(({ fn }) => [fn.sum<number | null>('d.bytes').as('bytes'), fn.countAll<number>().as('count')])
        .where('b.tenant', '=', owner.tenant)
        .where('b.owner', '=', owner.subject)
        .where('b.removed', '=', sql.lit(0))
        .$if(key !== undefined, (query) => query.where('b.namespace', '=', ownedNamespace(key ?? '')))
        .where('d.state', 'in', ['pending', 'ready'])
        .executeTakeFirst(),
    );
    return { count: Number(row?.count ?? 0), bytes: Number(row?.bytes ?? 0) };
  }
}

function toOwned(row: BaseRow): OwnedBase {
  return { tenant: row.tenant, base: toBase(row) };
}

function owned(db: Kysely<KnowledgeTables>) {
  return db.selectFrom('data_bases').selectAll().where('owner', 'is not', null).where('removed', '=', sql.lit(0));
}

function ownedBy(db: Kysely<KnowledgeTables>, { tenant, subject }: Uploader, key: string) {
  return owned(db).where('tenant', '=', tenant).where('owner', '=', subject).where('namespace', '=', ownedNamespace(key));
}

function one(row: BaseRow | undefined): KnowledgeBase | undefined {
  return row === undefined ? undefined : toBase(row);
}
