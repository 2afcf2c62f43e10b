import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { createStorage } from '../create-storage.ts';
import type { StorageAccess } from '../storage.ts';
import { systemScope } from '../tenant-scope.ts';
import { type NoteTables, notesModule } from '../test-support/notes-module.ts';
import { PostgresCluster } from '../test-support/postgres-cluster.ts';
import { type CopyProgress, copyDatabase } from './copy-database.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-copy-'));
const missing = PostgresCluster.missing();
const cluster = missing === undefined ? await PostgresCluster.start() : undefined;
t.teardown(async () => {
  await cluster?.remove();
  rmSync(folder, { recursive: true });
});
t.setTimeout(300_000);
const modules = [notesModule];
let files = 0;

function newFile(): string {
  files += 1;
  return `sqlite:${join(folder, `${files}.sqlite`)}`;
}

async function withNotes<T>(url: string, run: (notes: StorageAccess<NoteTables>) => Promise<T>): Promise<T> {
  const storage = createStorage({ url, modules });
  await storage.open();
  try {
    return await run(storage.access<NoteTables>());
  } finally {
    await storage.close();
  }
}

type Part = NoteTables['note_parts'];

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).map((value) => value.replaceAll('\0', '')),
  fc.constantFrom(
    '\u{1F600}\u{1F468}\u200D\u{1F469}',
    "'; drop table notes; --",
    '\\',
    '\\x00',
    '\uFFFF',
    'NULL',
    '1e5',
    ' ',
    '',
  ),
);
const integer = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 31, -(2 ** 31) - 1),
);
const real = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-0, 5e-324, Number.MAX_VALUE, 2 ** 53, 1e300),
);
const part: fc.Arbitrary<Part> = fc.record({
  tenant: fc.constantFrom('red', 'blue'),
  id: text,
  note_id: text,
  size: fc.option(integer),
  weight: fc.option(real),
  bytes: fc.option(fc.uint8Array({ maxLength: 300 })),
});

async function insertParts(url: string, parts: readonly Part[]): Promise<void> {
  await withNotes(url, async (notes) => {
    await notes.writeUnit(systemScope(), (db) => [
      ...parts.map((row) => db.insertInto('note_parts').values(row)),
      ...parts.map(({ id }) => db.insertInto('log_lines').values({ line: id } as NoteTables['log_lines'])),
    ]);
  });
}

async function readParts(url: string): Promise<Part[]> {
  const rows = await withNotes(url, (notes) =>
    notes.read(systemScope(), (db) => db.selectFrom('note_parts').selectAll().orderBy('id').execute()),
  );
  return rows.map((row) => ({ ...row, bytes: row.bytes && new Uint8Array(row.bytes) }));
}

const manyParts = Array.from({ length: 2_500 }, (_, i) => ({
  tenant: 'red',
  id: `${i}`,
  note_id: 'n',
  size: i,
  weight: i / 7,
  bytes: new Uint8Array(i % 50),
}));

t.test('hostile values survive SQLite to PostgreSQL and back', { skip: missing ?? false }, async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(part, { selector: ({ id }) => id, minLength: 50, maxLength: 300 }), async (parts) => {
      const [first, second, third] = [newFile(), (await cluster?.newDatabase()) ?? '', newFile()];
      await insertParts(first, parts);
      const there = await copyDatabase({ url: first, modules }, { url: second, modules });
      const back = await copyDatabase({ url: second, modules }, { url: third, modules });
      t.strictSame(back, there);
      t.strictSame(await readParts(third), await readParts(first));
    }),
    { numRuns: 2 },
  );
});

const targets = [
  { kind: 'SQLite', skip: false, newTarget: async () => newFile() },
  { kind: 'PostgreSQL', skip: missing ?? false, newTarget: async () => (await cluster?.newDatabase()) ?? '' },
] as const;

for (const { kind, skip, newTarget } of targets) {
  t.test(`an interrupted copy to ${kind} is refused by open(), and goes on where it was`, { skip }, async (t) => {
    const [source, target] = [newFile(), await newTarget()];
    await insertParts(source, manyParts);
    const interruption = new AbortController();
    const stop = ({ rows, table }: CopyProgress) => table === 'note_parts' && rows > 1_000 && interruption.abort();
    const interrupted = copyDatabase(
      { url: source, modules },
      { url: target, modules },
      { onProgress: stop, signal: interruption.signal },
    );
    await t.rejects(interrupted, { name: 'AbortError' });
    await t.rejects(createStorage({ url: target, modules }).open(), { code: 'copy_unfinished', remedy: /svc migrate --to/ });
    const resumedAt: number[] = [];
    await copyDatabase(
      { url: source, modules },
      { url: target, modules },
      { onProgress: ({ table, phase, rows }) => table === 'note_parts' && phase === 'copy' && resumedAt.push(rows) },
    );
    t.ok((resumedAt[0] ?? 0) > 1_000);
    t.strictSame((await readParts(target)).length, manyParts.length);
    const [result] = await withNotes(target, (notes) =>
      notes.writeUnit(systemScope(), (db) => [
        db
          .insertInto('log_lines')
          .values({ line: 'next' } as NoteTables['log_lines'])
          .returning('seq'),
      ]),
    );
    t.strictSame(result?.rows, [{ seq: manyParts.length + 1 }]);
  });

  t.test(`a target on ${kind} with rows of its own is refused and keeps them`, { skip }, async (t) => {
    const [source, target] = [newFile(), await newTarget()];
    await insertParts(source, manyParts.slice(0, 3));
    await insertParts(target, manyParts.slice(0, 1));
    await t.rejects(copyDatabase({ url: source, modules }, { url: target, modules }), {
      code: 'copy_refused',
      message: /not empty/,
    });
    t.strictSame((await readParts(target)).length, 1);
  });
}

t.test('a source that changed between two runs is found by its checksum, and the next run starts anew', async (t) => {
  const [source, target] = [newFile(), newFile()];
  await insertParts(source, manyParts);
  const interruption = new AbortController();
  const stop = ({ table, rows }: CopyProgress) => table === 'note_parts' && rows > 1_000 && interruption.abort();
  const copy = (options = {}) => copyDatabase({ url: source, modules }, { url: target, modules }, options);
  await t.rejects(copy({ onProgress: stop, signal: interruption.signal }));
  await withNotes(source, (notes) =>
    notes.writeUnit(systemScope(), (db) => [db.updateTable('note_parts').set({ note_id: 'changed' }).where('id', '=', '0')]),
  );
  await t.rejects(copy(), { code: 'copy_differs', message: /note_parts/ });
  await copy();
  t.strictSame(await readParts(target), await readParts(source));
});

t.test('another source’s unfinished copy, and a source that does not exist, are refused', async (t) => {
  const [source, other, target] = [newFile(), newFile(), newFile()];
  await insertParts(source, manyParts);
  await insertParts(other, []);
  const interrupted = new AbortController();
  const options = { onProgress: () => interrupted.abort(), signal: interrupted.signal };
  await t.rejects(copyDatabase({ url: source, modules }, { url: target, modules }, options));
  await t.rejects(copyDatabase({ url: other, modules }, { url: target, modules }), {
    code: 'copy_refused',
    message: /another database/,
  });
  await t.rejects(copyDatabase({ url: newFile(), modules }, { url: newFile(), modules }), { code: 'copy_refused' });
});
