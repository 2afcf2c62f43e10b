/** How far a copy has come: a table in its target, which is gone when the copy is whole. */

import type { Engine } from '../engine.ts';
import { hasTable } from '../migrations/applied-migrations.ts';
import { StorageError } from '../storage-error.ts';
import { systemScope } from '../tenant-scope.ts';

export const COPY_TABLE = 'svc_copy';

/** Throws for a database that holds a part of another one. */
export async function refuseUnfinishedCopy(engine: Engine): Promise<void> {
  if (!(await engine.read(systemScope(), async (execute) => await hasTable(engine, execute, COPY_TABLE)))) return;
  throw new StorageError('copy_unfinished', 'This database is the target of a copy that was not finished.', {
    remedy: 'Run `svc migrate --to` again to finish it, or empty this database.',
  });
}
