import { isAbsolute } from 'node:path';
import { DatabaseStorage } from './database-storage.ts';
import type { Engine } from './engine.ts';
import { PostgresEngine } from './postgres/postgres-engine.ts';
import { SqliteEngine } from './sqlite/sqlite-engine.ts';
import type { Storage } from './storage.ts';
import { StorageError } from './storage-error.ts';
import { resolveStorageOptions, type StorageOptions } from './storage-options.ts';

/** Builds the storage that `url` names, without touching it: `open()` does. Throws a StorageError `invalid_url`. */
export function createStorage(options: StorageOptions): Storage {
  return new DatabaseStorage(createEngine(options), resolveStorageOptions(options));
}

/** Throws a StorageError `invalid_url`. */
export function createEngine(options: StorageOptions): Engine {
  const resolved = resolveStorageOptions(options);
  if (options.url.startsWith('sqlite:')) return new SqliteEngine(sqlitePath(options.url), resolved);
  if (/^postgres(ql)?:/.test(options.url)) return new PostgresEngine(resolved);
  throw new StorageError('invalid_url', 'database.url names neither SQLite nor PostgreSQL.', {
    remedy: 'Use sqlite:/path/to/file or postgres://user@host/database.',
  });
}

function sqlitePath(url: string): string {
  const path = url.slice('sqlite:'.length);
  if (isAbsolute(path) && !path.includes('\0')) return path;
  throw new StorageError('invalid_url', 'database.url for SQLite needs an absolute path.', {
    remedy: 'Use sqlite:/path/to/file.',
  });
}
