import { join } from 'node:path';
import type { Kysely } from 'kysely';
import t from 'tap';
import { newFolder } from '../../files/test-support/new-folder.ts';
import { createStorage } from '../create-storage.ts';
import { inspectSnapshot } from '../index.ts';
import { StorageError } from '../storage-error.ts';
import { tenantScope } from '../tenant-scope.ts';
import { type NoteTables, notesModule } from '../test-support/notes-module.ts';
import { Connection } from './connection.ts';

const red = tenantScope('red');

t.test(
  'commits with news are counted where that was asked for, in the database itself, and a fenced one takes none',
  async (t) => {
    const folder = newFolder(t);
    const file = join(folder, 'svc.sqlite');
    const open = async () => {
      const storage = createStorage({ url: `sqlite:${file}`, modules: [{ ...notesModule, transient: ['notes.text'] }] });
      await storage.open();
      return storage;
    };
    const first = await open();
    const note = async (storage: typeof first, id: string): Promise<void> => {
      await storage
        .access<NoteTables>()
        .writeUnit(red, (db) => [db.insertInto('notes').values({ tenant: 'red', id, text: 'kept', version: 1 })]);
    };
    await note(first, 'a');
    t.equal(await first.commitNumber(), 0, 'nobody has asked');
    await first.countCommits();
    const begun = await first.commitNumber();
    for (const id of ['b', 'c']) await note(first, id);
    t.equal(await first.commitNumber(), begun + 2);
    await first.close();

    const second = await open();
    await second.countCommits();
    await note(second, 'd');
    const last = await second.commitNumber();
    t.ok(last > begun + 2, 'it goes on after a restart');
    const copy = join(folder, 'copy.sqlite');
    await second.snapshot(copy);
    const { keys } = await inspectSnapshot(copy, [{ table: 'svc_database', columns: ['key', 'value'], unless: '' }]);
    t.strictSame(
      keys[0]?.find(([key]) => key === 'commits'),
      ['commits', String(last)],
      'a copy says which one it has',
    );

    const passing = (text: string) => (db: Kysely<NoteTables>) => [
      db.updateTable('notes').set({ text }).where('id', '=', 'd'),
      db.updateTable('notes').set({ version: 2 }).where('id', '=', 'nobody'),
    ];
    await second.access<NoteTables>().writeUnit(red, passing('of the moment'));
    t.equal(await second.commitNumber(), last, 'what is transient counts for nothing, and neither does what changes nothing');
    await second
      .access<NoteTables>()
      .writeUnit(red, (db) => [
        ...passing('of the next')(db),
        db.updateTable('notes').set({ version: 2, text: 'kept' }).where('id', '=', 'd'),
      ]);
    t.equal(await second.commitNumber(), last + 1, 'but not what is written beside it');

    second.fence(new StorageError('storage_unavailable', 'another node took its place'));
    await t.rejects(note(second, 'e'), /another node took its place/);
    await t.rejects(
      second.access<NoteTables>().write(red, async () => undefined),
      /another node took its place/,
    );
    t.equal(await second.commitNumber(), last + 1, 'it can still be read');
    await second.close();
  },
);

t.test('a statement that writes nothing and gives no rows runs as others do', (t) => {
  const connection = Connection.openWriter(join(newFolder(t), 'svc.sqlite'));
  t.strictSame(connection.run({ sql: 'PRAGMA defer_foreign_keys = ON', parameters: [] }), { rows: [], affectedRows: 0 });
  connection.close();
  t.end();
});
