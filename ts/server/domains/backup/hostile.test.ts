import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { createStorage } from '../../platform/storage/index.ts';
import { notesModule } from '../../platform/storage/test-support/notes-module.ts';
import type { Manifest } from './repository/manifest.ts';
import { openRepository, openRepositoryForWriting, type Repository } from './repository/repository.ts';
import { createBackup } from './snapshot/create-backup.ts';
import { restoreBackup } from './snapshot/restore-backup.ts';
import { verifyBackup } from './snapshot/verify-backup.ts';
import { type BackedNode, ids, insertParts, openBackedNode, stateFiles } from './test-support/backed-node.ts';

t.setTimeout(300_000);

async function backedUp(t: Test, plainText = false) {
  const node = await openBackedNode(t);
  await insertParts(node.storage, ids(0, 40));
  const access = plainText ? { ...node.access, passphraseFile: '', plainText } : node.access;
  const repository = await openRepositoryForWriting(access);
  const { id } = await createBackup(node.source, repository);
  return { node, access, repository, id };
}

function chunkFiles(folder: string): string[] {
  const names = readdirSync(join(folder, 'chunks'), { recursive: true, withFileTypes: true });
  return names.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
}

function everyByte(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return Buffer.concat(files.map((each) => readFileSync(join(each.parentPath, each.name))));
}

for (const plainText of [false, true]) {
  t.test(`damage is found in ${plainText ? 'plain' : 'encrypted'} backups`, async (t) => {
    const { node, repository, id } = await backedUp(t, plainText);
    await verifyBackup(repository, id, node.root);
    const files = [...chunkFiles(node.access.folder), join(node.access.folder, 'manifests', `${id}.json`)];
    t.ok(files.length > 4);
    for (const file of files) {
      const whole = readFileSync(file);
      const changed = Buffer.from(whole);
      const at = Math.floor(whole.length * 0.7);
      changed[at] = changed[at] === 65 ? 66 : 65;
      for (const bytes of [changed, whole.subarray(0, -1), Buffer.alloc(0)]) {
        writeFileSync(file, bytes);
        await t.rejects(verifyBackup(repository, id, node.root), { code: 'backup_damaged' }, file);
      }
      writeFileSync(file, whole);
    }
    const [first = ''] = files;
    await rm(first);
    await t.rejects(verifyBackup(repository, id, node.root), { code: 'backup_damaged', message: /missing/ });
    symlinkSync('/dev/zero', first);
    await t.rejects(verifyBackup(repository, id, node.root), { code: 'backup_damaged' });
    await t.rejects(verifyBackup(repository, '20260101T000000000Z-00000000', node.root), { code: 'backup_not_found' });
    await t.rejects(verifyBackup(repository, '../../etc/passwd', node.root), { code: 'backup_not_found' });
    t.notOk(
      readdirSync(node.root).some((name) => name.startsWith('verify-')),
      'nothing is left in the scratch folder',
    );
  });
}

t.test('another passphrase, none, and a damaged head are told apart', async (t) => {
  const { node, id } = await backedUp(t);
  const other = join(node.root, 'other');
  writeFileSync(other, 'another passphrase\n');
  await t.rejects(openRepository({ ...node.access, passphraseFile: other }), { code: 'wrong_passphrase' });
  await t.rejects(openRepositoryForWriting({ ...node.access, passphraseFile: other }), { code: 'wrong_passphrase' });
  await t.rejects(openRepository({ ...node.access, passphraseFile: '' }), { code: 'passphrase_needed' });
  writeFileSync(other, 'short\n');
  await t.rejects(openRepository({ ...node.access, passphraseFile: other }), {
    code: 'passphrase_needed',
    message: /5 characters/,
  });
  await t.rejects(openRepository({ ...node.access, folder: node.root }), { code: 'backup_not_found' });
  const file = join(node.access.folder, 'manifests', `${id}.json`);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"version":"1.2.3"', '"version":"9.9.9"'));
  const { manifests, sealing } = await openRepository(node.access);
  await t.rejects(manifests.get(id, sealing), { code: 'backup_damaged' });
  const head = join(node.access.folder, 'repository.json');
  const greedy = readFileSync(head, 'utf8').replace('"n": 65536', '"n": 1073741824');
  writeFileSync(head, greedy);
  await t.rejects(openRepository(node.access), { code: 'backup_damaged', message: /repository\.json/ });
});

t.test('secrets are written in plain text only when the operator says so', async (t) => {
  const { node } = await backedUp(t);
  const plain = { ...node.access, passphraseFile: '', folder: join(node.root, 'plain') };
  await t.rejects(openRepositoryForWriting(plain), { code: 'passphrase_needed' });
  t.notOk(existsSync(plain.folder));
  await createBackup(node.source, await openRepositoryForWriting({ ...plain, plainText: true }));
  const appending = { ...plain, passphraseFile: node.access.passphraseFile };
  await t.rejects(openRepositoryForWriting(appending), { code: 'passphrase_needed', message: /not encrypted/ });
  const encrypted = everyByte(node.access.folder);
  for (const secret of ['the secret of', 'svc.toml', 'note_parts', 'sealing.key', 'a passphrase of tests'])
    t.notOk(encrypted.includes(secret), secret);
});

/** Writes other files into a manifest, as somebody could who has the passphrase. */
async function forge({ manifests, sealing }: Repository, genuine: Manifest, files: unknown): Promise<void> {
  const { database, tables, files: _, ...head } = genuine;
  await manifests.put(head, { database, tables, files: files as Manifest['files'] }, sealing);
}

t.test('a manifest whose paths lead elsewhere is refused before anything is written', async (t) => {
  const { repository, id } = await backedUp(t);
  const manifest = await repository.manifests.get(id, repository.sealing);
  const { files: genuine } = manifest;
  const outside = [
    ...[
      '../evil',
      'data/../../evil',
      '/etc/evil',
      'data//evil',
      'data/./evil',
      'data',
      'data/',
      'evil',
      'config/..',
      'data\\evil',
    ],
    ...[
      'data/blobs/a\0b',
      'data/blobs/../../evil',
      `data/${'a/'.repeat(40)}b`,
      'C:/evil',
      'models/evil',
      'data/models/evil',
      'data/.restore/evil',
    ],
  ];
  for (const path of outside) {
    await forge(
      repository,
      manifest,
      genuine.map((each, n) => (n === 1 ? { ...each, path } : each)),
    );
    const target = newFolder(t);
    await t.rejects(restoreBackup(repository, id, { dataDir: target, stateFiles }), { code: 'backup_damaged' }, path);
    t.strictSame(readdirSync(target), [], path);
  }
  const entry = genuine.find(({ path }) => path === 'data/node.json');
  const lists: Record<string, (files: Manifest['files']) => unknown> = {
    twice: (files) => [...files, entry],
    'below a file': (files) => [...files, { ...entry, path: 'data/node.json/x' }],
    'without a database': (files) => files.slice(1),
    'with a link': (files) => [...files, { ...entry, path: 'data/blobs/link', link: '/etc/passwd' }],
    'of a wrong size': (files) => files.map((each) => (each.path === 'data/node.json' ? { ...each, size_bytes: 5 } : each)),
    'with chunks that are too many': (files) =>
      files.map((each) => ({ ...each, chunks: [...each.chunks, ...each.chunks, 'a'.repeat(64)] })),
    'with a chunk that is a path': (files) =>
      files.map((each) => ({ ...each, chunks: each.chunks.map(() => '../../../etc/passwd') })),
  };
  for (const [what, change] of Object.entries(lists)) {
    await forge(repository, manifest, change(genuine));
    const target = newFolder(t);
    await t.rejects(restoreBackup(repository, id, { dataDir: target, stateFiles }), { code: 'backup_damaged' }, what);
    t.notOk(existsSync(join(target, 'node.json')), what);
  }
});

t.test('a backup of a newer version is refused before anything is replaced', async (t) => {
  const { repository, id } = await backedUp(t);
  const target = newFolder(t);
  const older = [{ ...notesModule, migrations: notesModule.migrations.slice(0, 1) }];
  const admitDatabase = async (file: string) =>
    void (await createStorage({ url: `sqlite:${file}`, modules: older }).planMigrations());
  await t.rejects(restoreBackup(repository, id, { dataDir: target, stateFiles, admitDatabase }), { code: 'schema_newer' });
  t.notOk(existsSync(join(target, 'svc.db')));
});

t.test('links in the folder that is backed up are left out, and not followed by a restore', async (t) => {
  const node: BackedNode = await openBackedNode(t);
  symlinkSync('/etc/passwd', join(node.dataDir, 'blobs', 'link'));
  const repository = await openRepositoryForWriting(node.access);
  const { id } = await createBackup(node.source, repository);
  const { files } = await repository.manifests.get(id, repository.sealing);
  t.notOk(files.some(({ path }) => path.includes('link')));
  const [target, elsewhere] = [newFolder(t), newFolder(t)];
  mkdirSync(join(elsewhere, 'kept'));
  symlinkSync(elsewhere, join(target, 'blobs'));
  await restoreBackup(repository, id, { dataDir: target, stateFiles });
  t.strictSame(readdirSync(elsewhere), ['kept']);
  t.strictSame(readdirSync(join(target, 'blobs')), ['ab']);
});
