/** Whether authentication was ever switched on. It is a fact of its own: deleting the last account does not switch it off again. */
import type { Kysely } from 'kysely';
import type { IdentityTables } from './tables.ts';

const ENFORCED = 'authentication_enforced';

export async function isEnforced(db: Kysely<IdentityTables>): Promise<boolean> {
  const fact = await db.selectFrom('identity_facts').select('name').where('name', '=', ENFORCED).executeTakeFirst();
  return fact !== undefined;
}

/** Throws StorageError unique_violation when it is on. */
export async function enforceAuthentication(tx: Kysely<IdentityTables>): Promise<void> {
  await tx.insertInto('identity_facts').values({ name: ENFORCED, value: new Date().toISOString() }).execute();
}
