import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';

/** Copies the database into `path`, which appears when it is whole and on disk. Replaces what was there. */
export function writeBackup(database: Database.Database, path: string): void {
  const part = `${path}.part`;
  rmSync(part, { force: true });
  // VACUUM INTO refuses a file with content, but takes an empty one, whose mode is then ours.
  closeSync(openSync(part, 'wx', 0o600));
  database.prepare('VACUUM INTO ?').run(part);
  syncPath(part);
  renameSync(part, path);
  syncPath(dirname(path));
}

function syncPath(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
