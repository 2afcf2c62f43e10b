/** Reads accounts and groups of a tenant in the order in which they were made, as the lists of a directory need them. */
import type { Kysely } from 'kysely';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { nameKey } from '../accounts/account-name.ts';
import { type GroupRow, type IdentityStorage, type IdentityTables, type UserRow, within } from '../tables.ts';

type Table = 'identity_users' | 'identity_groups';
type RowOf<T extends Table> = T extends 'identity_users' ? UserRow : GroupRow;

/** A value that an index of the table finds. */
export interface IndexedValue {
  attribute: 'id' | 'externalId' | 'name';
  value: string;
}

/** Rows of one tenant, oldest first. */
export interface DirectoryRows<Row> {
  count(): Promise<number>;
  page(offset: number, limit: number): Promise<Row[]>;
  /** Rows behind one; undefined: from the first one on. */
  after(row: Row | undefined, limit: number): Promise<Row[]>;
  indexed(wanted: IndexedValue): Promise<Row[]>;
}

/** A group and an account in it. */
export interface Membership {
  groupId: string;
  groupName: string;
  userId: string;
  username: string;
}

/** Found rows of an equality: names are unique, ids of a directory should be. */
const MAX_FOUND = 100;
const CHUNK = 500;

export class DirectoryReader {
  readonly #storage: IdentityStorage;

  constructor(storage: IdentityStorage) {
    this.#storage = storage;
  }

  rows<T extends Table>(scope: TenantScope, table: T): DirectoryRows<RowOf<T>> {
    return {
      count: () => this.#count(scope, table),
      page: (offset, limit) => this.#page(scope, table, offset, limit),
      after: (row, limit) => this.#after(scope, table, row, limit),
      indexed: (wanted) => this.#indexed(scope, table, wanted),
    };
  }

  /** Of these accounts, or of these groups. */
  memberships(scope: TenantScope, by: 'user_id' | 'group_id', ids: readonly string[]): Promise<Membership[]> {
    return this.#storage.read(scope, async (db) => {
      const found: Membership[] = [];
      for (let at = 0; at < ids.length; at += CHUNK)
        found.push(...(await readMemberships(db, scope, by, ids.slice(at, at + CHUNK))));
      return found;
    });
  }

  #count(scope: TenantScope, table: Table): Promise<number> {
    return this.#storage.read(scope, async (db) => {
      const counted = await db
        .selectFrom(table)
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .where(within(scope))
        .executeTakeFirstOrThrow();
      return Number(counted.n);
    });
  }

  #page<T extends Table>(scope: TenantScope, table: T, offset: number, limit: number): Promise<RowOf<T>[]> {
    return this.#storage.read(scope, (db) => inOrder(db, scope, table).offset(offset).limit(limit).execute()) as Promise<
      RowOf<T>[]
    >;
  }

  #after<T extends Table>(scope: TenantScope, table: T, row: RowOf<T> | undefined, limit: number): Promise<RowOf<T>[]> {
    return this.#storage.read(scope, (db) => {
      const query = inOrder(db, scope, table).limit(limit);
      if (row === undefined) return query.execute();
      const { created_at, id } = row;
      return query
        .where((eb) => eb.or([eb('created_at', '>', created_at), eb.and([eb('created_at', '=', created_at), eb('id', '>', id)])]))
        .execute();
    }) as Promise<RowOf<T>[]>;
  }

  #indexed<T extends Table>(scope: TenantScope, table: T, { attribute, value }: IndexedValue): Promise<RowOf<T>[]> {
    const nameColumn = table === 'identity_users' ? 'username_key' : 'name_key';
    const column = attribute === 'id' ? 'id' : attribute === 'externalId' ? 'external_id' : nameColumn;
    const wanted = column === nameColumn ? nameKey(value) : value;
    return this.#storage.read(scope, (db) =>
      inOrder(db, scope, table)
        .where(column as 'id', '=', wanted)
        .limit(MAX_FOUND)
        .execute(),
    ) as Promise<RowOf<T>[]>;
  }
}

/** The two tables share the columns that are used here. */
function inOrder(db: Kysely<IdentityTables>, scope: TenantScope, table: Table) {
  return db
    .selectFrom(table as 'identity_groups')
    .selectAll()
    .where(within(scope))
    .orderBy('created_at')
    .orderBy('id');
}

function readMemberships(
  db: Kysely<IdentityTables>,
  scope: TenantScope,
  by: 'user_id' | 'group_id',
  ids: readonly string[],
): Promise<Membership[]> {
  return db
    .selectFrom('identity_group_members as member')
    .innerJoin('identity_groups as grp', 'grp.id', 'member.group_id')
    .innerJoin('identity_users as account', 'account.id', 'member.user_id')
    .select(['grp.id as groupId', 'grp.name as groupName', 'account.id as userId', 'account.username'])
    .distinct()
    .where('member.tenant', '=', scope.tenant)
    .where(`member.${by}`, 'in', ids)
    .orderBy('grp.id')
    .orderBy('account.id')
    .execute();
}
