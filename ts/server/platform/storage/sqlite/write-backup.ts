import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';

/** Copies the database into `path`, which appears when it is whole and on disk. Replaces what was there. */
export function writeBackup(database: Database.Database, path: string): void {
  // Two processes may migrate at once: neither takes away what the other writes.
  const part = `${path}.${randomUUID()}.part`;
  try {
    writePart(database, part);
    renameSync(part, path);
  } finally {
    rmSync(part, { force: true });
  }
  syncPath(dirname(path));
}

function writePart(database: Database.Database, part: string): void {
  // VACUUM INTO refuses a file with content, but takes an empty one, whose mode is then ours.
  closeSync(openSync(part, 'wx', 0o600));
  database.prepare('VACUUM INTO ?').run(part);
  syncPath(part);
}

function syncPath(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
