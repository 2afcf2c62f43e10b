import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { readPages } from './read-pages.ts';

const chunkBytes = 64 * 1024;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** A database as the writer keeps it, with the same number of rows in two tables. */
function openDatabase(t: Test): { file: string; add(nRows: number): void } {
  const file = join(t.testdir(), 'svc.db');
  const database = new Database(file, { timeout: 5_000 });
  t.teardown(() => database.close());
  for (const setting of ['journal_mode = WAL', 'wal_autocheckpoint = 0', 'synchronous = FULL']) database.pragma(setting);
  database.exec('create table a (n integer primary key, body blob); create table b (n integer primary key, body blob)');
  const [a, b] = ['a', 'b'].map((name) => database.prepare(`insert into ${name} (body) values (randomblob(3000))`));
  const add = database.transaction((nRows: number) => {
    for (let i = 0; i < nRows; i++) for (const statement of [a, b]) statement?.run();
  });
  return { file, add: (nRows) => void add(nRows) };
}

/** Puts what comes into a file as it was before, and says how many chunks that were. */
function laidOut(target: string) {
  let bytes = Buffer.alloc(0);
  let nChunks = 0;
  return {
    target,
    onChunk: async (chunk: Uint8Array, at: number): Promise<void> => {
      nChunks += 1;
      const grown = Buffer.alloc(Math.max(bytes.length, at * chunkBytes + chunk.length));
      bytes.copy(grown);
      grown.set(chunk, at * chunkBytes);
      bytes = grown;
    },
    write: (sizeBytes: number): { nChunks: number; sha256: string } => {
      bytes = bytes.subarray(0, sizeBytes);
      writeFileSync(target, bytes);
      const was = nChunks;
      nChunks = 0;
      return { nChunks: was, sha256: sha256(bytes) };
    },
  };
}

function rowsOf(file: string): { a: number; b: number } {
  const database = new Database(file);
  try {
    t.strictSame(database.pragma('integrity_check', { simple: true }), 'ok');
    return database.prepare('select (select count(*) from a) a, (select count(*) from b) b').get() as { a: number; b: number };
  } finally {
    database.close();
  }
}

t.test('a database that is written to is read as it was at one moment, and of it only what changed', async (t) => {
  const { file, add } = openDatabase(t);
  const copy = laidOut(`${file}.copy`);
  add(1_000);
  let known: readonly string[] = [];
  for (let round = 0; round < 3; round++) {
    let isOver = false;
    let nAdded = 0;
    const reading = readPages({ file, chunkBytes, known, isLive: true }, copy.onChunk).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      add(1);
      nAdded += 1;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const { names, sizeBytes, sha256 } = await reading;
    const written = copy.write(sizeBytes);
    t.equal(written.sha256, sha256);
    t.ok(nAdded > 0, 'writers went on');
    const { a, b } = rowsOf(copy.target);
    t.equal(a, b, 'no half of a transaction is there');
    t.ok(a >= 1_000);
    if (round > 0) t.ok(written.nChunks < names.length / 2, `${written.nChunks} of ${names.length} chunks came`);
    known = names;
  }
});

t.test('a file that lies still is read as it is', async (t) => {
  const file = join(t.testdir(), 'still');
  const bytes = Buffer.alloc(chunkBytes * 2 + 5, 'still');
  writeFileSync(file, bytes);
  const { names, ...facts } = await readPages({ file, chunkBytes, known: [], isLive: false }, async () => undefined);
  t.strictSame(facts, { kind: 'done', sizeBytes: bytes.length, sha256: sha256(readFileSync(file)) });
  t.equal(names.length, 3);
});

t.test('a file that is none, a taker that fails and a signal end it', async (t) => {
  const file = join(t.testdir({ db: 'no database, and longer than the header of one would be, so that it is read' }), 'db');
  const nothing = async (): Promise<void> => undefined;
  await t.rejects(readPages({ file, chunkBytes, known: [], isLive: true }, nothing), {
    code: 'storage_unavailable',
    message: /not a database/,
  });
  const fails = async (): Promise<void> => Promise.reject(new Error('no room'));
  await t.rejects(readPages({ file, chunkBytes, known: [], isLive: false }, fails), { message: 'no room' });
  const aborted = AbortSignal.abort(new Error('stopped'));
  await t.rejects(readPages({ file, chunkBytes, known: [], isLive: false }, nothing, aborted), { message: 'stopped' });
});
