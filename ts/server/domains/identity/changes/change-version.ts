/** A number in the database that goes up with each change of credentials, by which nodes notice changes that they were not told of. */
import { type Kysely, sql } from 'kysely';
import type { IdentityTables } from '../tables.ts';

const VERSION = 'credentials_version';

/** Must be called once, before the first change. */
export async function beginVersions(tx: Kysely<IdentityTables>): Promise<void> {
  await tx.insertInto('identity_facts').values({ name: VERSION, value: '0' }).execute();
}

export async function readVersion(db: Kysely<IdentityTables>): Promise<number> {
  const fact = await db.selectFrom('identity_facts').select('value').where('name', '=', VERSION).executeTakeFirstOrThrow();
  return Number(fact.value);
}

/** The version that holds when the transaction commits. */
export async function raiseVersion(tx: Kysely<IdentityTables>): Promise<number> {
  const { value } = await tx
    .updateTable('identity_facts')
    .set({ value: sql<string>`cast(cast(value as bigint) + 1 as text)` })
    .where('name', '=', VERSION)
    .returning('value')
    .executeTakeFirstOrThrow();
  return Number(value);
}
