import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { createStorage } from '../create-storage.ts';
import type { Storage } from '../storage.ts';
import type { StorageOptions } from '../storage-options.ts';
import { tenantScope } from '../tenant-scope.ts';
import { type NoteTables, notesModule } from '../test-support/notes-module.ts';

t.setTimeout(120_000);
const red = tenantScope('red');

async function open(t: Test, options: Partial<StorageOptions> = {}): Promise<{ storage: Storage; file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-group-'));
  const file = join(folder, 'svc.sqlite');
  const storage = createStorage({ url: `sqlite:${file}`, modules: [notesModule], ...options });
  t.teardown(async () => {
    await storage.close();
    rmSync(folder, { recursive: true });
  });
  await storage.open();
  return { storage, file };
}

const note = (id: string) => ({ tenant: 'red', id, text: '', version: 1 });

t.test('units of one turn of the event loop share one commit', async (t) => {
  const commits: number[] = [];
  const { storage } = await open(t, { observer: { onCommit: ({ units }) => commits.push(units) } });
  const notes = storage.access<NoteTables>();
  commits.length = 0;
  await Promise.all(
    Array.from({ length: 64 }, (_, i) => notes.writeUnit(red, (db) => [db.insertInto('notes').values(note(`${i}`))])),
  );
  t.strictSame(commits, [64]);
});

t.test('interactive transactions that arrive together share commits', async (t) => {
  const commits: number[] = [];
  const { storage } = await open(t, { observer: { onCommit: ({ units }) => commits.push(units) } });
  const notes = storage.access<NoteTables>();
  commits.length = 0;
  const write = (id: string) => notes.write(red, (tx) => tx.insertInto('notes').values(note(id)).execute());
  await Promise.all(Array.from({ length: 64 }, (_, i) => write(`${i}`)));
  t.equal(
    commits.reduce((sum, units) => sum + units, 0),
    64,
  );
  t.ok(commits.length < 64, `${commits.length} commits`);
});

t.test('large units of a tenant do not stand before what others write', async (t) => {
  const { storage } = await open(t);
  const notes = storage.access<NoteTables>();
  const text = 'x'.repeat(2 * 1024 * 1024);
  const ended: string[] = [];
  const write = async (tenant: string, id: string, change: object) => {
    await notes.writeUnit(tenantScope(tenant), (db) => [db.insertInto('notes').values({ ...note(id), tenant, ...change })]);
    ended.push(`${tenant} ${id}`);
  };
  await Promise.all([
    ...['1', '2', '3'].map((id) => write('red', id, { text })),
    write('green', '1', { text }),
    write('blue', '1', {}),
  ]);
  t.same(ended.slice(0, 2).sort(), ['blue 1', 'red 1']);
  t.strictSame(ended.slice(2), ['red 2', 'green 1', 'red 3'], 'tenants with large ones take turns');
});

t.test('a write that rolls back takes none of its group with it', async (t) => {
  const { storage } = await open(t);
  const notes = storage.access<NoteTables>();
  const outcomes = await Promise.allSettled([
    notes.writeUnit(red, (db) => [db.insertInto('notes').values(note('a'))]),
    notes.write(red, async (tx) => {
      await tx.insertInto('notes').values(note('b')).execute();
      throw new Error('no');
    }),
    notes.writeUnit(red, (db) => [db.insertInto('notes').values(note('c'))]),
  ]);
  t.strictSame(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  const rows = await notes.read(red, (db) => db.selectFrom('notes').select('id').orderBy('id').execute());
  t.strictSame(rows, [{ id: 'a' }, { id: 'c' }]);
});

t.test(
  'the event loop runs on while another program holds the lock; then writes are refused as busy and nothing else stops',
  async (t) => {
    const { storage, file } = await open(t);
    const notes = storage.access<NoteTables>();
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    let longestGapMs = 0;
    let last = performance.now();
    const clock = setInterval(() => {
      longestGapMs = Math.max(longestGapMs, performance.now() - last);
      last = performance.now();
    }, 1);
    const write = () => notes.writeUnit(red, (db) => [db.insertInto('notes').values(note('a'))]);
    const interactive = () => notes.write(red, (tx) => tx.insertInto('notes').values(note('b')).execute());
    const startedAt = performance.now();
    const outcomes = await Promise.allSettled([write(), interactive(), write(), interactive()]);
    for (const outcome of outcomes) t.match(outcome, { reason: { code: 'storage_busy', outcome: 'not_applied' } });
    t.ok(performance.now() - startedAt < 9_000, 'they waited for the lock together, not one after another');
    clearInterval(clock);
    t.ok(longestGapMs < 2_500, 'the wait for the lock of 5 s was not on this thread');
    t.equal(storage.notReady(), undefined);
    other.close();
    await write();
  },
);

t.test('the log does not grow without end', async (t) => {
  const { storage, file } = await open(t);
  const notes = storage.access<NoteTables>();
  const text = 'x'.repeat(100_000);
  for (let i = 0; i < 30; i += 1) {
    const ids = Array.from({ length: 10 }, (_, k) => `${i}-${k}`);
    await notes.writeUnit(red, (db) => ids.map((id) => db.insertInto('notes').values({ ...note(id), text })));
  }
  t.ok(statSync(`${file}-wal`).size < 20_000_000, 'of 30 MB written');
});

t.test('only the owner can read the database', async (t) => {
  const { file } = await open(t);
  for (const path of [file, `${file}-wal`]) t.equal(statSync(path).mode & 0o777, 0o600, path);
});
