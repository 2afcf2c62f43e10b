/** What holds of storage on both databases. Each test opens a database of its own. */
import { sql } from 'kysely';
import type { Test } from 'tap';
import { createStorage } from './create-storage.ts';
import type { Storage } from './storage.ts';
import { StorageError } from './storage-error.ts';
import type { StorageOptions } from './storage-options.ts';
import { systemScope, tenantScope } from './tenant-scope.ts';
import { type NewDatabase, onEachDatabase } from './test-support/each-database.ts';
import { type NoteTables, notesModule } from './test-support/notes-module.ts';

const red = tenantScope('red');
const blue = tenantScope('blue');

function testStorageContract(t: Test, newDatabase: NewDatabase): void {
  async function open(t: Test, options: Partial<StorageOptions> = {}): Promise<Storage> {
    const database = await newDatabase();
    const storage = createStorage({ url: database.url, modules: [notesModule], ...options });
    t.teardown(async () => {
      await storage.close();
      await database.remove();
    });
    await storage.open();
    return storage;
  }

  t.test('what was written is read by its tenant, and not by another', async (t) => {
    const notes = (await open(t)).access<NoteTables>();
    await notes.writeUnit(red, (db) => [db.insertInto('notes').values({ tenant: 'red', id: 'a', text: 'one', version: 1 })]);
    const read = (scope: typeof red) =>
      notes.read(scope, (db) => db.selectFrom('notes').selectAll().where('tenant', '=', scope.tenant).execute());
    t.strictSame(await read(red), [{ tenant: 'red', id: 'a', text: 'one', version: 1 }]);
    t.strictSame(await read(blue), []);
  });

  t.test('a unit gives the rows and counts of its statements', async (t) => {
    const notes = (await open(t)).access<NoteTables>();
    const results = await notes.writeUnit(red, (db) => [
      db.insertInto('notes').values({ tenant: 'red', id: 'a', text: 'one', version: 1 }),
      db.insertInto('notes').values({ tenant: 'red', id: 'b', text: 'two', version: 1 }).returning(['id', 'version']),
      db.updateTable('notes').set({ version: 5 }).where('tenant', '=', 'red'),
    ]);
    t.strictSame(
      results.map(({ rows, affectedRows }) => ({ rows, affectedRows })),
      [
        { rows: [], affectedRows: 1 },
        { rows: [{ id: 'b', version: 1 }], affectedRows: 1 },
        { rows: [], affectedRows: 2 },
      ],
    );
  });

  t.test('a unit that fails leaves nothing, and the units beside it stay', async (t) => {
    const notes = (await open(t)).access<NoteTables>();
    const insert = (ids: string[]) =>
      notes.writeUnit(red, (db) => ids.map((id) => db.insertInto('notes').values({ tenant: 'red', id, text: '', version: 1 })));
    await insert(['a']);
    const outcomes = await Promise.allSettled([insert(['d']), insert(['b', 'a', 'c']), insert(['e'])]);
    t.strictSame(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    t.match(outcomes[1], { reason: { name: 'StorageError', code: 'unique_violation', outcome: 'not_applied' } });
    const rows = await notes.read(red, (db) => db.selectFrom('notes').select('id').orderBy('id').execute());
    t.strictSame(
      rows.map(({ id }) => id),
      ['a', 'd', 'e'],
    );
  });

  t.test('interactive transactions that read and write the same row lose no update', async (t) => {
    const notes = (await open(t)).access<NoteTables>();
    const increment = () =>
      notes.write(systemScope(), async (tx) => {
        const { value } = await tx.selectFrom('counters').select('value').where('name', '=', 'parts').executeTakeFirstOrThrow();
        await tx
          .updateTable('counters')
          .set({ value: value + 1 })
          .where('name', '=', 'parts')
          .execute();
      });
    await Promise.all(Array.from({ length: 20 }, increment));
    t.strictSame(await notes.read(systemScope(), (db) => db.selectFrom('counters').select('value').execute()), [{ value: 20 }]);
  });

  t.test('an interactive transaction whose callback throws leaves nothing', async (t) => {
    const notes = (await open(t)).access<NoteTables>();
    const failing = notes.write(red, async (tx) => {
      await tx.insertInto('notes').values({ tenant: 'red', id: 'a', text: '', version: 1 }).execute();
      throw new Error('changed my mind');
    });
    await t.rejects(failing, { message: 'changed my mind' });
    t.strictSame(await notes.read(red, (db) => db.selectFrom('notes').selectAll().execute()), []);
  });

  t.test('a failed statement fails its transaction, even when the callback catches it', async (t) => {
    const notes = (await open(t)).access<NoteTables>();
    const note = { tenant: 'red', id: 'a', text: '', version: 1 };
    const failing = notes.write(red, async (tx) => {
      await tx.insertInto('notes').values(note).execute();
      await tx
        .insertInto('notes')
        .values(note)
        .execute()
        .catch(() => undefined);
    });
    await t.rejects(failing, { code: 'unique_violation' });
    t.strictSame(await notes.read(red, (db) => db.selectFrom('notes').selectAll().execute()), []);
  });

  t.test('the queries of one read see one state', async (t) => {
    const notes = (await open(t)).access<NoteTables>();
    const count = await notes.read(red, async (db) => {
      const before = await db.selectFrom('notes').selectAll().execute();
      await notes.writeUnit(red, (db) => [db.insertInto('notes').values({ tenant: 'red', id: 'a', text: '', version: 1 })]);
      return [before.length, (await db.selectFrom('notes').selectAll().execute()).length];
    });
    t.strictSame(count, [0, 0]);
  });

  t.test('a read cannot write', async (t) => {
    const notes = (await open(t)).access<NoteTables>();
    const writing = notes.read(red, (db) => db.deleteFrom('notes').execute());
    await t.rejects(writing, { code: 'statement_failed' });
    t.equal((await open(t)).notReady(), undefined);
  });

  t.test('a transaction over its time limit is rolled back, and the next one runs', async (t) => {
    const notes = (await open(t, { transactionTimeoutMs: 50 })).access<NoteTables>();
    const slow = notes.write(red, async (tx) => {
      await tx.insertInto('notes').values({ tenant: 'red', id: 'a', text: '', version: 1 }).execute();
      await new Promise(() => undefined);
    });
    await t.rejects(slow, { code: 'transaction_timeout' });
    t.strictSame(await notes.write(red, (tx) => tx.selectFrom('notes').selectAll().execute()), []);
  });

  t.test('values come back as they were stored, and others are refused', async (t) => {
    const notes = (await open(t)).access<NoteTables>();
    const values = [
      { size: Number.MAX_SAFE_INTEGER, weight: 1.5e308, bytes: new Uint8Array([0, 255]) },
      { size: Number.MIN_SAFE_INTEGER, weight: -0.1, bytes: new Uint8Array() },
      { size: null, weight: 3, bytes: null },
    ];
    const rows = values.map((value, i) => ({ tenant: 'red', id: `${i}`, note_id: '\u{1F600}\uFFFF', ...value }));
    await notes.writeUnit(red, (db) => rows.map((row) => db.insertInto('note_parts').values(row)));
    const stored = await notes.read(red, (db) => db.selectFrom('note_parts').selectAll().orderBy('id').execute());
    t.strictSame(stored.map(plainBytes), rows.map(plainBytes));
    for (const wrong of ['\0', Number.NaN, true, new Date(), undefined, 2n ** 63n]) {
      const write = notes.writeUnit(red, (db) => [db.deleteFrom('notes').where('id', '=', wrong as string)]);
      await t.rejects(write, { code: 'invalid_value' }, String(wrong));
    }
    const tooLarge = notes.writeUnit(red, (db) => [db.updateTable('note_parts').set({ size: 2 ** 53 })]);
    await t.rejects(tooLarge, { code: 'constraint_violation' });
  });

  t.test('integer arithmetic in SQL is the same on both databases', async (t) => {
    const notes = (await open(t)).access<NoteTables>();
    await notes.writeUnit(red, (db) => [db.updateTable('counters').set({ value: sql`(value + ${7}) / ${2} * ${10}` })]);
    t.strictSame(await notes.read(red, (db) => db.selectFrom('counters').select('value').execute()), [{ value: 30 }]);
  });

  t.test('text is ordered by code point', async (t) => {
    const notes = (await open(t)).access<NoteTables>();
    const ids = ['a', 'B', 'ä', 'Z', '_', '\u{1F600}', '\uFFFD', 'aa', ''];
    await notes.writeUnit(red, (db) =>
      ids.map((id) => db.insertInto('notes').values({ tenant: 'red', id, text: '', version: 1 })),
    );
    const rows = await notes.read(red, (db) => db.selectFrom('notes').select('id').orderBy('id').execute());
    t.strictSame(
      rows.map(({ id }) => id),
      ['', 'B', 'Z', '_', 'a', 'aa', 'ä', '\uFFFD', '\u{1F600}'],
    );
  });

  t.test('identities count up', async (t) => {
    const notes = (await open(t)).access<NoteTables>();
    const insert = (line: string) =>
      notes.writeUnit(red, (db) => [
        db
          .insertInto('log_lines')
          .values({ line } as NoteTables['log_lines'])
          .returning('seq'),
      ]);
    t.strictSame((await insert('one'))[0]?.rows, [{ seq: 1 }]);
    t.strictSame((await insert('two'))[0]?.rows, [{ seq: 2 }]);
  });

  t.test('close() waits for the reads and writes that were begun', async (t) => {
    const { url, remove } = await newDatabase();
    t.teardown(remove);
    const storage = createStorage({ url, modules: [notesModule] });
    await storage.open();
    const notes = storage.access<NoteTables>();
    const note = (id: string) => ({ tenant: 'red', id, text: '', version: 1 });
    const begun = [
      ...['a', 'b'].map((id) => notes.writeUnit(red, (db) => [db.insertInto('notes').values(note(id))])),
      notes.write(red, async (tx) => {
        await tx.insertInto('notes').values(note('c')).execute();
        await new Promise((resolve) => setImmediate(resolve));
        await tx.insertInto('notes').values(note('d')).execute();
      }),
      notes.read(red, async (db) => {
        await db.selectFrom('notes').selectAll().execute();
        await new Promise((resolve) => setImmediate(resolve));
        return await db.selectFrom('notes').selectAll().execute();
      }),
    ];
    await Promise.all([...begun, storage.close()]);
    await storage.open();
    t.teardown(() => storage.close());
    t.equal((await notes.read(red, (db) => db.selectFrom('notes').selectAll().execute())).length, 4);
  });

  t.test('after close() everything is refused', async (t) => {
    const storage = await open(t);
    await storage.close();
    await t.rejects(
      storage.access<NoteTables>().writeUnit(red, (db) => [db.deleteFrom('notes')]),
      { code: 'storage_closed' },
    );
    await t.rejects(
      storage.access<NoteTables>().read(red, (db) => db.selectFrom('notes').selectAll().execute()),
      StorageError,
    );
    t.ok(storage.notReady());
    await storage.close();
  });

  testMigrations(t, newDatabase);
}

function testMigrations(t: Test, newDatabase: NewDatabase): void {
  const older = { ...notesModule, migrations: notesModule.migrations.slice(0, 1) };

  t.test('a database is migrated once, in order, and a plan says what is pending', async (t) => {
    const { url, remove } = await newDatabase();
    t.teardown(remove);
    const first = createStorage({ url, modules: [older] });
    await first.open();
    await first.close();
    const second = createStorage({ url, modules: [notesModule] });
    t.teardown(() => second.close());
    t.strictSame((await second.planMigrations()).pending, [{ module: 'notes', id: 2, name: 'create parts of notes' }]);
    await second.open();
    t.strictSame((await second.planMigrations()).pending, []);
  });

  t.test('a database that a newer program migrated is refused', async (t) => {
    const { url, remove } = await newDatabase();
    t.teardown(remove);
    const newer = createStorage({ url, modules: [notesModule] });
    await newer.open();
    await newer.close();
    await t.rejects(createStorage({ url, modules: [older] }).open(), { code: 'schema_newer', remedy: /version of svc/ });
  });

  t.test('a migration that fails leaves no trace, and is tried again at the next start', async (t) => {
    const { url, remove } = await newDatabase();
    t.teardown(remove);
    const [first, second] = notesModule.migrations;
    if (!first || !second) throw new Error('the module has two migrations');
    const failing = {
      ...second,
      up: async (...args: Parameters<typeof second.up>) => {
        await second.up(...args);
        throw new Error('power cut');
      },
    };
    await t.rejects(createStorage({ url, modules: [{ module: 'notes', migrations: [first, failing] }] }).open(), /power cut/);
    const storage = createStorage({ url, modules: [notesModule] });
    t.teardown(() => storage.close());
    await storage.open();
    const counters = await storage
      .access<NoteTables>()
      .read(systemScope(), (db) => db.selectFrom('counters').selectAll().execute());
    t.strictSame(counters, [{ name: 'parts', value: 0 }]);
  });
}

function plainBytes<Row extends { bytes: Uint8Array | null }>(row: Row): object {
  return { ...row, bytes: row.bytes && [...row.bytes] };
}

onEachDatabase(testStorageContract);
