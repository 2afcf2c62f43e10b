import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates an empty file that only its owner can read; SQLite gives the log beside it the same mode. An existing file is not opened: closing
 * any descriptor of it would drop the locks that SQLite holds on it in this process (fcntl(2)).
 */
export function createDatabaseFile(file: string): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true });
  if (existsSync(file)) return;
  closeSync(openSync(file, 'ax', 0o600));
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
