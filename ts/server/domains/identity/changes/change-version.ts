/** A number in the database that goes up with each change of credentials, by which nodes notice changes that they were not told of. */
import { type Kysely, sql } from 'kysely';
import type { IdentityTables } from '../tables.ts';

const VERSION = 'credentials_version';
/** A version and who made it so: a process of an earlier release raises the version and leaves this one behind. */
const ORIGIN = 'credentials_version_origin';

/** Must be called once, before the first change. */
export async function beginVersions(tx: Kysely<IdentityTables>): Promise<void> {
  await tx.insertInto('identity_facts').values({ name: VERSION, value: '0' }).execute();
}

/** The last change, and which process made it, where the one that made it says so. */
export async function readVersion(db: Kysely<IdentityTables>): Promise<{ version: number; origin: string | undefined }> {
  const facts = await db.selectFrom('identity_facts').selectAll().where('name', 'in', [VERSION, ORIGIN]).execute();
  const [version, last] = [VERSION, ORIGIN].map((wanted) => facts.find(({ name }) => name === wanted)?.value);
  if (version === undefined) throw new Error('the version of the credentials is not there');
  const [of, origin] = last?.split(' ') ?? [];
  return { version: Number(version), origin: of === version ? origin : undefined };
}

/** The version that holds when the transaction commits. */
export async function raiseVersion(tx: Kysely<IdentityTables>, origin: string): Promise<number> {
  const { value } = await tx
    .updateTable('identity_facts')
    .set({ value: sql<string>`cast(cast(value as bigint) + 1 as text)` })
    .where('name', '=', VERSION)
    .returning('value')
    .executeTakeFirstOrThrow();
  const last = `${value} ${origin}`;
  await tx
    .insertInto('identity_facts')
    .values({ name: ORIGIN, value: last })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: last }))
    .execute();
  return Number(value);
}
