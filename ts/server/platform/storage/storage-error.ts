/** Why storage refused or failed. Services translate these into errors of their own; no code names an HTTP status. */
export type StorageErrorCode =
  /** An I/O error, a full disk or a lost connection. `outcome` says whether the write may have been applied. */
  | 'storage_unavailable'
  /** Another process holds the database's lock, or all connections are in use. Nothing was applied. */
  | 'storage_busy'
  | 'storage_closed'
  | 'unique_violation'
  | 'foreign_key_violation'
  | 'constraint_violation'
  /** The database refused a statement for another reason, a mistake in the SQL for example. */
  | 'statement_failed'
  /** A parameter that the two databases would not store alike. */
  | 'invalid_value'
  /** An interactive transaction took longer than its limit and was rolled back. */
  | 'transaction_timeout'
  /** PostgreSQL refused a transaction repeatedly because of concurrent ones. Nothing was applied. */
  | 'write_conflict'
  /** The file of a SQLite database is damaged. */
  | 'database_damaged'
  | 'invalid_url'
  | 'invalid_migration'
  | 'schema_newer'
  | 'role_bypasses_rls'
  | 'copy_refused'
  | 'copy_differs'
  | 'copy_unfinished'
  | 'data_dir_locked';

/** `unknown`: the write may or may not be there after recovery, so it must not be repeated blindly. */
export type WriteOutcome = 'not_applied' | 'unknown';

interface StorageErrorDetails {
  remedy?: string;
  cause?: unknown;
  outcome?: WriteOutcome;
}

/** Every failure of storage: a code, a sentence with the cause, and what to do about it. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;
  readonly remedy: string;
  readonly outcome: WriteOutcome;

  constructor(code: StorageErrorCode, message: string, details: StorageErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.remedy = details.remedy ?? '';
    this.outcome = details.outcome ?? 'not_applied';
  }
}
