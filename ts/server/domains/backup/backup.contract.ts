/** What backups promise, whichever database the node has. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { finishSwap } from '../../platform/files/staged-swap.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { copyDatabase, createStorage } from '../../platform/storage/index.ts';
import { type Dialect, type NewDatabase, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { notesModule } from '../../platform/storage/test-support/notes-module.ts';
import { openRepository, openRepositoryForWriting } from './repository/repository.ts';
import { createBackup } from './snapshot/create-backup.ts';
import { restoreBackup } from './snapshot/restore-backup.ts';
import { verifyBackup } from './snapshot/verify-backup.ts';
import { ids, insertParts, openBackedNode, openNotes, readParts, stateFiles } from './test-support/backed-node.ts';

function testBackups(t: Test, newDatabase: NewDatabase, dialect: Dialect): void {
  /** Undefined: the SQLite file of a data folder. */
  const newUrl = async () => (dialect === 'sqlite' ? undefined : (await newDatabase()).url);

  t.test('what was backed up is restored into an empty folder, whole, and serves there', async (t) => {
    const node = await openBackedNode(t, await newUrl());
    await insertParts(node.storage, ids(0, 60));
    const progress: number[] = [];
    const repository = await openRepositoryForWriting(node.access);
    const { id } = await createBackup(node.source, repository, { onProgress: ({ done }) => progress.push(done) });
    t.ok(progress.length > 3 && (progress.at(-1) ?? 0) > 1_200_000);
    t.strictSame(readdirSync(join(node.dataDir, 'cache', 'backup')), [], 'nothing is left of the snapshot');
    const expected = await readParts(node.storage);
    await insertParts(node.storage, ids(60, 70));

    const target = join(newFolder(t), 'data');
    mkdirSync(target);
    const url = await newUrl();
    const importDatabase = async (file: string, beforeUse: () => Promise<void>): Promise<void> => {
      const modules = [notesModule];
      await copyDatabase({ url: `sqlite:${file}`, modules }, { url: url ?? '', modules }, { beforeUse });
    };
    const restoring = { dataDir: target, stateFiles, ...(url !== undefined && { importDatabase }) };
    await restoreBackup(await openRepository(node.access), id, restoring);
    t.equal(readFileSync(join(target, 'sealing.key'), 'utf8'), 'the secret of first\n');
    t.ok(readFileSync(join(target, 'blobs', 'ab', 'large')).equals(readFileSync(join(node.dataDir, 'blobs', 'ab', 'large'))));
    t.equal(readFileSync(join(target, 'blobs', 'ab', 'empty'), 'utf8'), '');
    t.match(readFileSync(join(target, 'restored-config', '0-svc.toml'), 'utf8'), /listen/);
    t.notOk(existsSync(join(target, '.restore')));
    t.equal(existsSync(join(target, 'svc.db')), url === undefined, 'a database of its own leaves no file behind');
    const restored = await openNotes(t, url ?? `sqlite:${join(target, 'svc.db')}`);
    t.strictSame(await readParts(restored), expected);
    await insertParts(restored, ids(60, 61));
  });

  t.test('a restore that ends around its decision leaves a database that takes no work until it was run again', async (t) => {
    const node = await openBackedNode(t, await newUrl());
    await insertParts(node.storage, ids(0, 30));
    const repository = await openRepositoryForWriting(node.access);
    const { id } = await createBackup(node.source, repository);
    const expected = await readParts(node.storage);
    const modules = [notesModule];
    for (const decides of [false, true]) {
      const target = newFolder(t);
      // Where the state is one file, there is no such moment.
      const url = await newUrl();
      if (url === undefined) continue;
      const importer = (end?: () => void) => async (file: string, beforeUse: () => Promise<void>) => {
        const last = async (): Promise<void> => {
          if (decides) await beforeUse();
          end?.();
          if (!decides) await beforeUse();
        };
        await copyDatabase({ url: `sqlite:${file}`, modules }, { url, modules }, { beforeUse: last });
      };
      const killed = importer(() => {
        throw new Error('killed');
      });
      await t.rejects(restoreBackup(repository, id, { dataDir: target, stateFiles, importDatabase: killed }), /killed/);
      // As whoever takes the folder's lock next does.
      await finishSwap(target);
      t.equal(existsSync(join(target, 'sealing.key')), decides);
      await t.rejects(createStorage({ url, modules }).open(), { code: 'copy_unfinished' });
      await restoreBackup(repository, id, { dataDir: target, stateFiles, importDatabase: importer() });
      t.ok(existsSync(join(target, 'sealing.key')));
      t.notOk(existsSync(join(target, 'svc.db')));
      t.strictSame(await readParts(await openNotes(t, url)), expected);
    }
  });

  t.test('a second backup of unchanged data adds nearly nothing, and one of a changed row little', async (t) => {
    const node = await openBackedNode(t, await newUrl());
    await insertParts(node.storage, ids(0, 200));
    const repository = await openRepositoryForWriting(node.access);
    const first = await createBackup(node.source, repository);
    t.ok(first.stored_bytes > 4_000_000);
    const second = await createBackup(node.source, repository);
    t.ok(second.stored_bytes <= 16_384, `${second.stored_bytes} bytes`);
    await insertParts(node.storage, ids(200, 201));
    const third = await createBackup(node.source, repository);
    t.ok(third.stored_bytes < first.stored_bytes / 3, `${third.stored_bytes} bytes`);
    t.strictSame(await repository.manifests.listIds(), [first.id, second.id, third.id].sort());
  });

  t.test('a backup beside a steady writer is one state, and verifying it proves that', async (t) => {
    const node = await openBackedNode(t, await newUrl());
    let [isOver, n] = [false, 0];
    const writing = (async () => {
      while (!isOver) await insertParts(node.storage, [String(n++).padStart(5, '0')]);
    })();
    while (n < 20) await new Promise((resolve) => setTimeout(resolve, 5));
    const repository = await openRepositoryForWriting(node.access);
    const { id } = await createBackup(node.source, repository);
    const after = n;
    isOver = true;
    await writing;
    const { tables } = await verifyBackup(repository, id, node.root);
    const rows = tables['note_parts'] ?? 0;
    t.ok(rows >= 19 && rows <= after, `${rows} of ${after}`);
    const target = newFolder(t);
    await restoreBackup(repository, id, { dataDir: target, stateFiles });
    const restored = await readParts(await openNotes(t, `sqlite:${join(target, 'svc.db')}`));
    t.strictSame(
      restored.map((row) => row.id),
      ids(0, rows),
      'every row up to one moment, and none after it',
    );
  });

  t.test('a backup that is not proved is not listed, however often it is tried', async (t) => {
    const node = await openBackedNode(t, await newUrl());
    const repository = await openRepositoryForWriting(node.access);
    const prove = async (): Promise<void> => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    };
    for (let attempt = 0; attempt < 3; attempt += 1)
      await t.rejects(createBackup(node.source, repository, { prove }), { code: 'ENOSPC' });
    t.strictSame(await repository.manifests.listIds(), []);
  });

  t.test('a file that is deleted while the backup runs is left out of it', async (t) => {
    const node = await openBackedNode(t);
    const repository = await openRepositoryForWriting(node.access);
    const onProgress = ({ message }: { message?: string }): void => {
      if (message === 'data/node.json') rmSync(join(node.dataDir, 'blobs', 'ab', 'large'), { force: true });
    };
    const { id } = await createBackup(node.source, repository, { onProgress });
    const { files } = await verifyBackup(repository, id, node.root);
    t.strictSame(
      files.map(({ path }) => path).filter((path) => path.startsWith('data/blobs')),
      ['data/blobs/ab/empty'],
    );
  });

  t.test('a file that a module removes while the backup reads is in it, and goes afterwards', async (t) => {
    const node = await openBackedNode(t);
    const repository = await openRepositoryForWriting(node.access);
    const file = join(node.dataDir, 'blobs', 'ab', 'large');
    const remove = async (): Promise<void> => rmSync(file, { force: true });
    const onProgress = ({ message }: { message?: string }): void => {
      if (message === 'data/node.json') void node.source.node.removals.remove(remove, remove);
    };
    const { id } = await createBackup(node.source, repository, { onProgress });
    const { files } = await verifyBackup(repository, id, node.root);
    t.ok(files.some(({ path }) => path === 'data/blobs/ab/large'));
    t.notOk(existsSync(file));
  });

  t.test('a restore over an existing state replaces it, and leaves models and what no module keeps', async (t) => {
    const node = await openBackedNode(t);
    const repository = await openRepositoryForWriting(node.access);
    const { id } = await createBackup(node.source, repository);
    await node.storage.close();
    writeFileSync(join(node.dataDir, 'blobs', 'later'), 'x');
    mkdirSync(join(node.dataDir, 'models'));
    writeFileSync(join(node.dataDir, 'models', 'm.gguf'), 'x');
    writeFileSync(join(node.dataDir, 'svc.db-wal'), 'of the old database');
    await restoreBackup(repository, id, { dataDir: node.dataDir, stateFiles });
    t.strictSame(readdirSync(join(node.dataDir, 'blobs')), ['ab']);
    t.ok(existsSync(join(node.dataDir, 'models', 'm.gguf')));
    t.notOk(existsSync(join(node.dataDir, 'svc.db-wal')));
  });
}

onEachDatabase(testBackups, { timeoutMs: 300_000 });
