/**
 * A process of low priority that reads a SQLite database of another process as it is at one moment, chunk by chunk, and sends the chunks that its parent lacks. It
 * is a process because closing a file of the database would end the locks that SQLite holds for the parent.
 *
 * Nothing but a checkpoint writes into the file of a database in WAL mode, and none goes beyond what a reader sees: once all that the reader sees was copied
 * from the log, the file itself is that moment for as long as the reader is there. Writers go on into the log meanwhile.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { setPriority } from 'node:os';
import Database from 'better-sqlite3';

export interface PagesTask {
  readonly file: string;
  readonly chunkBytes: number;
  /** SHA-256 of the chunks that the parent has, in their order. */
  readonly known: readonly string[];
  /** Others write to it; else it is a file that lies still. */
  readonly isLive: boolean;
}

export type PagesNews =
  | { readonly kind: 'chunk'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'done'; readonly names: readonly string[]; readonly sizeBytes: number; readonly sha256: string }
  | { readonly kind: 'failed'; readonly message: string };

const BUSY_MS = 5_000;
const PAUSE_MS = 20;
const TRIES = 500;
const COPIES = 20;
/** Others go before, and it goes on where they use all of the processor. */
const PRIORITY = 5;
/** Chunks that are sent and not taken yet. */
const MOST_UNTAKEN = 8;

const SCHEMA = 'select count(*) from sqlite_schema';

const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const send = (news: PagesNews): boolean | undefined => process.send?.(news);
let nUntaken = 0;
let onTaken = (): void => undefined;

setPriority(PRIORITY);
process.on('message', (message: PagesTask | 'taken') => {
  if (message === 'taken') {
    nUntaken -= 1;
    onTaken();
    return;
  }
  void work(message).catch((error: Error) => send({ kind: 'failed', message: error.message }));
});
// The parent is gone.
process.on('disconnect', () => process.exit(0));

async function work(task: PagesTask): Promise<void> {
  const release = task.isLive ? holdStill(task.file) : () => undefined;
  try {
    await readChunks(task);
  } finally {
    release();
  }
}

/** Until the returned function is called, no page of the file changes. Writers and checkpoints are not held up. */
function holdStill(file: string): () => void {
  const [log, held] = [new Database(file, { timeout: BUSY_MS }), new Database(file, { timeout: BUSY_MS })];
  const release = (): void => {
    held.close();
    log.close();
  };
  try {
    // A connection that has read nothing yet does not know that there is a log.
    log.prepare(SCHEMA).get();
    for (let attempt = 0; attempt < TRIES; attempt++) {
      if (beginAtKnownLog(log, held)) return release;
      pause(PAUSE_MS);
    }
    throw new Error('reads that never end keep its log from being copied into it');
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * From `BEGIN` on the file can come up to that moment alone, and it is there when as much of the log is in it as the log had then. False: a commit came
 * between, so that this is not known, or an older read keeps the log from being copied.
 */
function beginAtKnownLog(log: Database.Database, held: Database.Database): boolean {
  const before = logState(log).log;
  held.exec('BEGIN');
  held.prepare(SCHEMA).get();
  if (before >= 0 && logState(log).log === before)
    for (let attempt = 0; attempt < COPIES; attempt++) {
      if (logState(log).checkpointed === before) return true;
      log.pragma('wal_checkpoint(PASSIVE)');
      if (attempt > 0) pause(PAUSE_MS);
    }
  held.exec('ROLLBACK');
  return false;
}

/** Pages that the log has, and of those the ones that were copied into the file. */
function logState(database: Database.Database): { log: number; checkpointed: number } {
  const [state] = database.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[];
  return state ?? { log: -1, checkpointed: -1 };
}

async function readChunks({ file, chunkBytes, known }: PagesTask): Promise<void> {
  const whole = createHash('sha256');
  const names: string[] = [];
  const fd = openSync(file, 'r');
  let sizeBytes = 0;
  try {
    for (;;) {
      const bytes = readFull(fd, chunkBytes);
      if (bytes.length === 0) break;
      whole.update(bytes);
      const name = createHash('sha256').update(bytes).digest('hex');
      if (known[names.length] !== name) await sendChunk(names.length, bytes);
      names.push(name);
      sizeBytes += bytes.length;
      // Another turn of the loop, so that a parent that is gone is noticed.
      if (names.length % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (bytes.length < chunkBytes) break;
    }
  } finally {
    closeSync(fd);
  }
  send({ kind: 'done', names, sizeBytes, sha256: whole.digest('hex') });
}

function readFull(fd: number, chunkBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(chunkBytes);
  let length = 0;
  for (let n = -1; n !== 0 && length < chunkBytes; length += n) n = readSync(fd, bytes, length, chunkBytes - length, null);
  return bytes.subarray(0, length);
}

async function sendChunk(at: number, bytes: Buffer): Promise<void> {
  while (nUntaken >= MOST_UNTAKEN)
    await new Promise<void>((resolve) => {
      onTaken = resolve;
    });
  nUntaken += 1;
  send({ kind: 'chunk', at, bytes });
}
