/** Finds what a credential stands for. This is the one place that looks credentials up without knowing a tenant: it is what tells the tenant. */
import { systemScope } from '../../../platform/storage/index.ts';
import type { ApiKeyRow, IdentityStorage, SessionRow, UserRow } from '../tables.ts';

export type Owner = Pick<UserRow, 'tenant' | 'username' | 'role' | 'disabled'>;

export interface Found<Row> {
  row: Row;
  /** Undefined: the account was deleted. */
  owner: Owner | undefined;
}

/** When credentials were last used, by id; Unix milliseconds. */
export interface LastUses {
  keys: ReadonlyMap<string, number>;
  sessions: ReadonlyMap<string, number>;
}

/** Lists show for so long that an invitation has expired. */
const KEEP_INVITATIONS_MS = 30 * 24 * 60 * 60 * 1000;
const CLOCK_TOLERANCE_MS = 24 * 60 * 60 * 1000;

export class CredentialStore {
  readonly #storage: IdentityStorage;

  constructor(storage: IdentityStorage) {
    this.#storage = storage;
  }

  findKey(hash: string): Promise<Found<ApiKeyRow> | undefined> {
    return this.#storage.read(systemScope(), async (db) => {
      const row = await db.selectFrom('identity_api_keys').selectAll().where('hash', '=', hash).executeTakeFirst();
      if (row === undefined) return undefined;
      return { row, owner: await db.selectFrom('identity_users').selectAll().where('id', '=', row.user_id).executeTakeFirst() };
    });
  }

  findSession(hash: string): Promise<Found<SessionRow> | undefined> {
    return this.#storage.read(systemScope(), async (db) => {
      const row = await db.selectFrom('identity_sessions').selectAll().where('hash', '=', hash).executeTakeFirst();
      if (row === undefined) return undefined;
      return { row, owner: await db.selectFrom('identity_users').selectAll().where('id', '=', row.user_id).executeTakeFirst() };
    });
  }

  async writeLastUses({ keys, sessions }: LastUses): Promise<void> {
    if (keys.size + sessions.size === 0) return;
    await this.#storage.writeUnit(systemScope(), (db) => [
      ...[...keys].map(([id, used_at]) => db.updateTable('identity_api_keys').set({ used_at }).where('id', '=', id)),
      ...[...sessions].map(([id, seen_at]) => db.updateTable('identity_sessions').set({ seen_at }).where('id', '=', id)),
    ]);
  }

  /** Sessions, capability and reset tokens, and invitations, that nobody can use any more. */
  async removeExpired(nowMs: number, idleMs: number): Promise<void> {
    await this.#storage.writeUnit(systemScope(), (db) => [
      // What a revoked token's row says is not needed when the token has expired by itself; clocks may differ a little.
      db.deleteFrom('identity_capabilities').where('expires_at', '<=', nowMs - CLOCK_TOLERANCE_MS),
      db
        .deleteFrom('identity_sessions')
        .where((eb) => eb.or([eb('expires_at', '<=', nowMs), eb('seen_at', '<=', nowMs - idleMs)])),
      db.deleteFrom('identity_password_resets').where('expires_at', '<=', nowMs),
      db.deleteFrom('identity_invitations').where('expires_at', '<=', nowMs - KEEP_INVITATIONS_MS),
    ]);
  }
}
