/** PostgreSQL's errors, sorted by what they mean for the caller. Source: appendix A of its manual ("Error Codes"). */
import pg from 'pg';
import { StorageError, type StorageErrorCode, type WriteOutcome } from '../storage-error.ts';

const CODES: readonly (readonly [RegExp, StorageErrorCode])[] = [
  [/^23505$/, 'unique_violation'],
  [/^23503$/, 'foreign_key_violation'],
  [/^23/, 'constraint_violation'],
  // Values out of range and of wrong types, which SQLite reports as violations of its column's type.
  [/^22/, 'constraint_violation'],
  [/^(40001|40P01)$/, 'write_conflict'],
  // Lost connections, shutdowns, a full disk, I/O errors, damaged files, and a server that has become read-only.
  [/^(08|57P0|53|58|XX00[12]|25006$)/, 'storage_unavailable'],
];

const REMEDIES: Partial<Record<StorageErrorCode, string>> = {
  storage_unavailable: 'The server reconnects by itself. See whether PostgreSQL runs and has space, and check database.url.',
  write_conflict: 'Repeat the request.',
};

const NO_PERMISSION = 'The role of database.url has to own the database: ALTER DATABASE ... OWNER TO its role.';

/** Undefined for an error that is not the server's: the connection's, or a program's mistake. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** `reading`: SQLSTATE 25006 is then the caller's write inside read(). */
export function toStorageError(error: unknown, { outcome = 'not_applied' as WriteOutcome, reading = false } = {}): StorageError {
  if (error instanceof StorageError) return error;
  const state = sqlState(error);
  const code = state === '25006' && reading ? 'statement_failed' : codeOf(state, error);
  const text = error instanceof Error ? error.message : String(error);
  const what = code === 'storage_unavailable' ? `PostgreSQL does not work: ${text}` : text;
  return new StorageError(code, state === undefined ? what : `${what} (SQLSTATE ${state})`, {
    remedy: state === '42501' ? NO_PERMISSION : (REMEDIES[code] ?? ''),
    outcome,
    cause: error,
  });
}

function codeOf(state: string | undefined, error: unknown): StorageErrorCode {
  if (state === undefined)
    return error instanceof TypeError || error instanceof RangeError ? 'statement_failed' : 'storage_unavailable';
  return CODES.find(([pattern]) => pattern.test(state))?.[1] ?? 'statement_failed';
}
