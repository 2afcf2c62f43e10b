/** What is done with whole database files, on a thread that ends with it. */
import { Worker } from 'node:worker_threads';
import { threadLimits } from '../../pool/thread-limits.ts';
import { StorageError } from '../storage-error.ts';

const ENTRY = new URL('../../../../workers/sqlite-snapshot.ts', import.meta.url);

export type SnapshotTask =
  | { readonly kind: 'copy'; readonly file: string; readonly to: string }
  | { readonly kind: 'check'; readonly file: string }
  | { readonly kind: 'inspect'; readonly file: string; readonly keys: readonly SnapshotKeys[]; readonly isProved: boolean };

/** Rows whose text columns are wanted, but for those that another table has with the same values. */
export interface SnapshotKeys {
  readonly table: string;
  readonly columns: readonly string[];
  readonly unless: string;
}

export interface SnapshotInspection {
  /** What SQLite's integrity check found; empty: nothing. */
  readonly problems: readonly string[];
  /** Rows by table. */
  readonly tables: Readonly<Record<string, number>>;
  /** Values of the columns, of the rows of each that was asked for; none for a table that the database has not. */
  readonly keys: readonly (readonly (readonly string[])[])[];
}

export type SnapshotResult =
  | { readonly inspection?: SnapshotInspection; readonly problems?: readonly string[] }
  | { readonly error: { message: string; code: string } };

/** Copies a database that others write to: the state of one moment, in a new file of mode 0600. Throws StorageError. */
export async function copySnapshot(file: string, to: string): Promise<void> {
  await runTask({ kind: 'copy', file, to });
}

/**
 * Reads a whole database file that nobody writes to; of one that `isProved` to be the copy of another only the values of the columns. Throws StorageError for
 * what is no database.
 */
export async function inspectSnapshot(
  file: string,
  keys: readonly SnapshotKeys[] = [],
  isProved = false,
): Promise<SnapshotInspection> {
  return (
    (await runTask({ kind: 'inspect', file, keys, isProved })).inspection ?? {
      problems: ['nothing was read'],
      tables: {},
      keys: [],
    }
  );
}

/**
 * What is wrong with a database file that others may write to; nothing: it is whole. Table by table, so that no read holds the log for as long
 * as a large file takes. Throws StorageError where it cannot be read.
 */
export async function findProblems(file: string): Promise<readonly string[]> {
  return (await runTask({ kind: 'check', file })).problems ?? [];
}

async function runTask(task: SnapshotTask): Promise<Exclude<SnapshotResult, { error: unknown }>> {
  const result = await new Promise<SnapshotResult>((resolve, reject) => {
    const worker = new Worker(ENTRY, { workerData: task, name: 'sqlite-snapshot', execArgv: [], resourceLimits: threadLimits });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread ended without an answer')));
  }).catch((error: Error) => ({ error: { message: error.message, code: '' } }));
  if ('error' in result) throw failed(task, result.error);
  return result;
}

function failed({ kind, file }: SnapshotTask, { message, code }: { message: string; code: string }): StorageError {
  const what = kind === 'copy' ? 'copied' : 'read';
  return new StorageError('storage_unavailable', `The database file ${file} cannot be ${what}: ${message}.`, {
    remedy:
      code === 'SQLITE_FULL' || code === 'ENOSPC' ? 'Free some disk space.' : 'See whether the disk works and the file is whole.',
  });
}
