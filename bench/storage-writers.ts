/**
 * Group commit, measured: `node bench/storage-writers.ts [FOLDER]` writes with one writer and with 64 concurrent ones into a SQLite file in
 * FOLDER (default: the temporary folder), then times fsync alone and one write a transaction on a plain connection.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { column, createStorage, type StorageAccess, tenantScope } from '../ts/server/platform/storage/index.ts';

const SECONDS = 3;
const WRITERS = 64;
const TEXT = 'x'.repeat(200);

interface Tables {
  notes: { tenant: string; id: string; text: string };
}

const scope = tenantScope('bench');

function perSecond(count: number, startedAt: number): number {
  return Math.round((1_000 * count) / (performance.now() - startedAt));
}

async function measureStorage(notes: StorageAccess<Tables>, writers: number): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  const write = async () => {
    while (performance.now() - startedAt < 1_000 * SECONDS) {
      count += 1;
      const id = `${writers}-${count}`;
      await notes.writeUnit(scope, (db) => [db.insertInto('notes').values({ tenant: 'bench', id, text: TEXT })]);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  return perSecond(count, startedAt);
}

/** What a program does that gives each write a transaction. */
function measurePlain(file: string): number {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec(
    'create table notes (tenant text not null, id text not null, text text not null, primary key (tenant, id)) strict',
  );
  const insert = database.prepare('insert into notes values (?, ?, ?)');
  const startedAt = performance.now();
  let count = 0;
  for (; performance.now() - startedAt < 1_000 * SECONDS; count += 1) insert.run('bench', `p-${count}`, TEXT);
  database.close();
  return perSecond(count, startedAt);
}

function measureSync(file: string): number {
  const fd = openSync(file, 'w');
  const block = Buffer.alloc(4_096);
  const startedAt = performance.now();
  let count = 0;
  for (; performance.now() - startedAt < 1_000; count += 1) {
    writeSync(fd, block);
    fdatasyncSync(fd);
  }
  closeSync(fd);
  return perSecond(count, startedAt);
}

const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'svc-bench-'));
try {
  const notesModule = {
    module: 'notes',
    migrations: [
      {
        id: 1,
        name: 'create notes',
        up: (schema: Parameters<import('../ts/server/platform/storage/index.ts').Migration['up']>[0]) =>
          schema.tenantTable('notes', { columns: { id: column.id(), text: column.text() }, primaryKey: ['tenant', 'id'] }),
      },
    ],
  };
  const storage = createStorage({ url: `sqlite:${join(folder, 'svc.sqlite')}`, modules: [notesModule] });
  await storage.open();
  const notes = storage.access<Tables>();
  const one = await measureStorage(notes, 1);
  const many = await measureStorage(notes, WRITERS);
  await storage.close();
  const figures = { syncs: measureSync(join(folder, 'sync')), plain: measurePlain(join(folder, 'plain.sqlite')), one, many };
  process.stdout.write(`${JSON.stringify({ ...figures, manyToPlain: many / figures.plain, manyToOne: many / one })}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
