/** SQLite's result codes, sorted by what they mean for the connection and for the caller. Source: https://sqlite.org/rescode.html */
import { DAMAGE_REMEDY } from '../database-damage.ts';
import { StorageError, type StorageErrorCode } from '../storage-error.ts';
import type { ThreadError } from './thread-messages.ts';

/** After one of these nothing that the connection says about the disk can be trusted: it has to be closed. */
const FATAL = /^SQLITE_(IOERR|FULL|CORRUPT|NOTADB|CANTOPEN|PROTOCOL|NOMEM|READONLY)/;
/** A read-only connection answers SQLITE_READONLY to a write, which is the caller's mistake. */
const FATAL_FOR_READER = /^SQLITE_(IOERR|CORRUPT|NOTADB|CANTOPEN|PROTOCOL|NOMEM)/;

const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;

const CODES: readonly (readonly [RegExp, StorageErrorCode])[] = [
  [/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID)$/, 'unique_violation'],
  [/^SQLITE_CONSTRAINT_FOREIGNKEY$/, 'foreign_key_violation'],
  [/^SQLITE_CONSTRAINT/, 'constraint_violation'],
  [/^SQLITE_(BUSY|LOCKED)/, 'storage_busy'],
];

const REMEDIES: Partial<Record<StorageErrorCode, string>> = {
  storage_busy: 'Another program holds a lock on the database file. Close it.',
  storage_unavailable:
    'The server reopens the database by itself once the disk works and has space. See the log and `svc doctor`.',
};

function sqliteCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}

export function isFatal(error: unknown, reader = false): boolean {
  return (reader ? FATAL_FOR_READER : FATAL).test(sqliteCode(error) ?? '');
}

export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error) ?? '');
}

export function toThreadError(error: unknown, { fatal = false, outcomeUnknown = false } = {}): ThreadError {
  return { message: error instanceof Error ? error.message : String(error), code: sqliteCode(error), fatal, outcomeUnknown };
}

export function toStorageError(error: ThreadError): StorageError {
  const code = error.fatal ? 'storage_unavailable' : codeOf(error.code);
  const what = error.fatal ? `The database cannot be written: ${error.message}` : error.message;
  return new StorageError(code, error.code === undefined ? what : `${what} (${error.code})`, {
    remedy: DAMAGED.test(error.code ?? '') ? DAMAGE_REMEDY : (REMEDIES[code] ?? ''),
    outcome: error.outcomeUnknown ? 'unknown' : 'not_applied',
  });
}

function codeOf(sqlite: string | undefined): StorageErrorCode {
  return CODES.find(([pattern]) => pattern.test(sqlite ?? ''))?.[1] ?? 'statement_failed';
}
