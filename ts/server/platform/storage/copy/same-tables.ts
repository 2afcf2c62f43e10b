import { StorageError } from '../storage-error.ts';
import type { CatalogTable } from './catalog.ts';

/** Throws a StorageError `copy_refused` unless the target has every table of the source, with the same columns and key. */
export function checkSameTables(source: readonly CatalogTable[], target: readonly CatalogTable[]): void {
  const shape = ({ name, columns, primaryKey }: CatalogTable) => `${name} (${columns.join(', ')}; key ${primaryKey.join(', ')})`;
  const targetShapes = new Set(target.map(shape));
  const missing = source.find((table) => !targetShapes.has(shape(table)));
  if (missing)
    throw new StorageError('copy_refused', `The target has no table ${shape(missing)}.`, {
      remedy: 'Every table has to be created by a migration.',
    });
  const keyless = source.find(({ primaryKey }) => primaryKey.length === 0);
  if (keyless)
    throw new StorageError('copy_refused', `Table ${keyless.name} has no primary key.`, {
      remedy: 'Create it with MigrationSchema.table().',
    });
}
