/** A small node to back up: a database with notes, a few files, and what opens its backup folder. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { RemovalHold } from '../../../platform/files/removal-hold.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import type { StateFile } from '../../../platform/module/state-file.ts';
import { createStorage, type Storage, systemScope } from '../../../platform/storage/index.ts';
import { type NoteTables, notesModule } from '../../../platform/storage/test-support/notes-module.ts';
import type { BackupAccess } from '../settings.ts';
import type { BackupSource } from '../snapshot/create-backup.ts';

export const stateFiles: readonly StateFile[] = [
  { name: 'node.json', kind: 'file' },
  { name: 'sealing.key', kind: 'file' },
  { name: 'blobs', kind: 'folder' },
];
const PASSPHRASE = 'a passphrase of tests';

export interface BackedNode {
  readonly root: string;
  readonly dataDir: string;
  readonly storage: Storage;
  readonly source: BackupSource;
  readonly access: BackupAccess;
}

/** `url`: of an empty database; absent: the SQLite file of the data folder. */
export async function openBackedNode(t: Test, url?: string): Promise<BackedNode> {
  const root = newFolder(t);
  const dataDir = join(root, 'data');
  writeState(dataDir, 'first');
  writeFileSync(join(root, 'svc.toml'), 'listen = "127.0.0.1:1"\n');
  writeFileSync(join(root, 'passphrase'), `${PASSPHRASE}\n`);
  const storage = createStorage({ url: url ?? `sqlite:${join(dataDir, 'svc.db')}`, modules: [notesModule] });
  await storage.open();
  t.teardown(() => storage.close());
  const node = { dataDir, stateFiles, configFiles: [join(root, 'svc.toml')], version: '1.2.3', removals: new RemovalHold() };
  const access = accessTo(join(root, 'backups'), join(root, 'passphrase'));
  return { root, dataDir, storage, source: { node, storage }, access };
}

/** Without keys for a distant destination, and without a node that keeps keys. */
export function accessTo(folder: string, passphraseFile: string): BackupAccess {
  const remote = { s3CredentialsFile: '', sshKeyFile: '', sshKnownHostsFile: '', allowedHosts: '' };
  return {
    folder,
    passphraseFile,
    isTrusted: true,
    plainText: false,
    recipients: '',
    identityFile: '',
    dataDir: undefined,
    remote,
  };
}

export function writeState(dataDir: string, mark: string): void {
  mkdirSync(join(dataDir, 'blobs', 'ab'), { recursive: true });
  writeFileSync(join(dataDir, 'node.json'), JSON.stringify({ mark }));
  writeFileSync(join(dataDir, 'sealing.key'), `the secret of ${mark}\n`);
  writeFileSync(join(dataDir, 'blobs', 'ab', 'empty'), '');
  writeFileSync(join(dataDir, 'blobs', 'ab', 'large'), Buffer.alloc(700_000, mark));
}

/** Rows of 20,000 random bytes each, which no compression makes smaller. */
export async function insertParts(storage: Storage, ids: readonly string[]): Promise<void> {
  await storage
    .access<NoteTables>()
    .writeUnit(systemScope(), (db) =>
      ids.map((id) =>
        db
          .insertInto('note_parts')
          .values({ tenant: 'red', id, note_id: 'n', size: 1, weight: 0.1, bytes: new Uint8Array(randomBytes(20_000)) }),
      ),
    );
}

export async function readParts(storage: Storage): Promise<{ id: string; bytes: string }[]> {
  const rows = await storage
    .access<NoteTables>()
    .read(systemScope(), (db) => db.selectFrom('note_parts').select(['id', 'bytes']).orderBy('id').execute());
  return rows.map(({ id, bytes }) => ({ id, bytes: Buffer.from(bytes ?? []).toString('hex') }));
}

export function ids(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => String(from + i).padStart(5, '0'));
}

/** Opens a database, and closes it with the test. */
export async function openNotes(t: Test, url: string): Promise<Storage> {
  const storage = createStorage({ url, modules: [notesModule] });
  await storage.open();
  t.teardown(() => storage.close());
  return storage;
}
