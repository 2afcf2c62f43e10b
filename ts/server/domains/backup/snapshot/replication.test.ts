/** Snapshots for a standby: what is laid out is the primary's database of one moment, whatever became of the states before. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { RemovalHold } from '../../../platform/files/removal-hold.ts';
import { Replication } from './replication.ts';

const { signal } = new AbortController();

/** A primary with a database and a file, and the folder of its standby. */
function openPair(t: Test) {
  const folder = t.testdir({ data: { files: { word: 'a word' } }, replica: {} });
  const dataDir = join(folder, 'data');
  const file = join(dataDir, 'svc.db');
  const database = new Database(file);
  t.teardown(() => database.close());
  for (const setting of ['journal_mode = WAL', 'wal_autocheckpoint = 0']) database.pragma(setting);
  database.exec("create table svc_database (key text, value text); insert into svc_database values ('commits', '0')");
  database.exec('create table notes (n integer primary key, body blob)');
  const add = (nRows: number): void => {
    const insert = database.prepare('insert into notes (body) values (randomblob(3000))');
    for (let i = 0; i < nRows; i++) insert.run();
    database.exec("update svc_database set value = value + 1 where key = 'commits'");
  };
  const storage = { file, dialect: 'sqlite' as const, snapshot: async () => undefined };
  const stateFiles = [{ name: 'files', kind: 'folder' as const }];
  const replication = new Replication({ node: { dataDir, stateFiles, version: '1', removals: new RemovalHold() }, storage });
  const replica = join(folder, 'replica');
  const sync = async (): Promise<{ commit: number; storedBytes: number }> => {
    const { id, storedBytes } = await replication.push(replication.open(replica), signal);
    return { commit: await replication.lay(replica, id), storedBytes };
  };
  return { dataDir, replica, add, sync };
}

function rowsAt(replica: string): number {
  const database = new Database(join(replica, 'ready', 'svc.db'), { readonly: true });
  try {
    return database.prepare('select count(*) from notes').pluck().get() as number;
  } finally {
    database.close();
  }
}

t.test('states take turns, and of each what changed is sent', async (t) => {
  const { dataDir, replica, add, sync } = openPair(t);
  add(1_000);
  const first = await sync();
  t.match(first, { commit: 1 });
  for (let round = 2; round < 5; round++) {
    add(10);
    if (round === 3) writeFileSync(join(dataDir, 'files', 'more'), 'more words');
    const { commit, storedBytes } = await sync();
    t.equal(commit, round);
    t.ok(storedBytes < first.storedBytes / 2, `${storedBytes} of ${first.storedBytes} bytes`);
    t.equal(rowsAt(replica), 1_000 + 10 * (round - 1));
    t.ok(existsSync(join(replica, 'previous.db')));
  }
  t.equal(readFileSync(join(replica, 'ready', 'files', 'word'), 'utf8'), 'a word');
  t.equal(readFileSync(join(replica, 'ready', 'files', 'more'), 'utf8'), 'more words');
});

t.test('a state that was damaged or cut off meanwhile is laid out anew', async (t) => {
  const { replica, add, sync } = openPair(t);
  add(500);
  await sync();
  add(10);
  await sync();
  const previous = join(replica, 'previous.db');
  writeFileSync(previous, Buffer.alloc(readFileSync(previous).length, 7));
  add(10);
  t.match(await sync(), { commit: 3 });
  t.equal(rowsAt(replica), 520);
  // As a process leaves it that was killed while it put one state in the place of the other.
  rmSync(join(replica, 'previous.json'));
  rmSync(join(replica, 'ready', 'ready.json'));
  mkdirSync(join(replica, 'next'));
  add(10);
  t.match(await sync(), { commit: 4 });
  t.equal(rowsAt(replica), 530);
});
