/** What is proven after an I/O error before writes are accepted again. */
import type Database from 'better-sqlite3';

/**
 * Throws when the database or the disk is still bad. The log is emptied first: its last pages may be in the kernel's cache alone, and what
 * is appended behind pages that never reached the disk would be lost with them.
 */
export function verifyDatabase(database: Database.Database): void {
  const [checkpoint] = database.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  if (checkpoint?.busy !== 0)
    throw new Error('another program reads the database, so its log cannot be emptied after an I/O error');
  const problems = database.pragma('quick_check(3)', { simple: false }) as { quick_check: string }[];
  const [first] = problems;
  if (first?.quick_check !== 'ok') throw damaged(problems.map((problem) => problem.quick_check).join('; '));
  probeWrite(database);
}

/** A write that has to reach the disk. */
function probeWrite(database: Database.Database): void {
  database.exec('CREATE TABLE IF NOT EXISTS svc_probe (id INTEGER PRIMARY KEY, written_at INTEGER NOT NULL) STRICT');
  database
    .prepare('INSERT INTO svc_probe VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at')
    .run(BigInt(Date.now()));
}

function damaged(problems: string): Error {
  return Object.assign(new Error(`the database file is damaged: ${problems}`), { code: 'SQLITE_CORRUPT' });
}
