/** The refusal of a database file that is damaged. */
import { StorageError } from './storage-error.ts';

/** Of the faults that were found, as many are told; the others say nothing more. */
const MOST_TOLD = 3;

export function databaseDamaged(file: string, problems: readonly string[]): StorageError {
  const told = problems.slice(0, MOST_TOLD).map(printable).join('; ');
  const more = problems.length > MOST_TOLD ? `; and ${problems.length - MOST_TOLD} more` : '';
  return new StorageError('database_damaged', `The database file ${file} is damaged: ${told}${more}.`, { remedy: DAMAGE_REMEDY });
}

export const DAMAGE_REMEDY =
  'Stop the node and keep a copy of the file. `svc backup list` shows the backups, newest first; take the newest that ' +
  '`svc backup verify BACKUP` proves, and put it in place with `svc backup restore BACKUP --force`. See whether the disk works.';

/** Faults quote what stands in the damaged pages. */
function printable(text: string): string {
  return text.replaceAll(/[^ -~]+/g, '?').slice(0, 200);
}
