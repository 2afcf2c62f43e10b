/** Deletes many rows a few at a time, so that no other write waits for long. */
import type { Compilable, Kysely } from 'kysely';
import type { StorageAccess } from './storage.ts';
import { systemScope } from './tenant-scope.ts';

const MOST_AT_ONCE = 500;

/** `query` deletes up to `limit` of the rows that are meant, of all tenants; it is repeated until none is left. The number that was deleted. */
export async function deleteInBatches<Tables>(
  access: StorageAccess<Tables>,
  query: (db: Kysely<Tables>, limit: number) => Compilable,
): Promise<number> {
  for (let deleted = 0; ; ) {
    const [result] = await access.writeUnit(systemScope(), (db) => [query(db, MOST_AT_ONCE)]);
    const count = result?.affectedRows ?? 0;
    deleted += count;
    if (count < MOST_AT_ONCE) return deleted;
  }
}
