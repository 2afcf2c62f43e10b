/** What every destination promises. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { newFolder } from '../../../../platform/files/test-support/new-folder.ts';
import { prune } from '../../repository/prune.ts';
import { openRepository, openRepositoryForWriting } from '../../repository/repository.ts';
import type { BackupAccess } from '../../settings.ts';
import { createBackup } from '../../snapshot/create-backup.ts';
import { restoreBackup } from '../../snapshot/restore-backup.ts';
import { verifyBackup } from '../../snapshot/verify-backup.ts';
import { ids, insertParts, openBackedNode, openNotes, readParts, stateFiles } from '../../test-support/backed-node.ts';
import type { BackupFiles } from '../backup-files.ts';

export async function filesContract(t: Test, files: BackupFiles): Promise<void> {
  t.teardown(() => files.close());
  t.equal(await files.read('nothing.json', 10), undefined);
  t.strictSame(await files.list('chunks'), []);
  const large = randomBytes(300_000);
  const name = 'a'.repeat(64);
  await files.write('repository.json', Buffer.from('{}'));
  await files.write(`chunks/aa/${name}`, large);
  await files.write(`chunks/ab/${name}`, Buffer.alloc(0));
  await files.sync();
  t.ok((await files.read(`chunks/aa/${name}`, 300_000))?.equals(large));
  t.equal((await files.read(`chunks/ab/${name}`, 10))?.length, 0);
  await t.rejects(files.read(`chunks/aa/${name}`, 299_999), { code: 'backup_damaged' });
  await files.write(`chunks/aa/${name}`, Buffer.from('another'));
  t.equal((await files.read(`chunks/aa/${name}`, 10))?.toString(), 'another', 'a file is replaced');
  t.equal(await files.renew(`chunks/aa/${name}`), true);
  t.equal(await files.renew(`chunks/ac/${name}`), false);
  const listed = await files.list('chunks');
  t.strictSame(listed.map(({ path }) => path).sort(), [`chunks/aa/${name}`, `chunks/ab/${name}`]);
  t.ok(listed.every(({ modifiedAt }) => Math.abs(Date.now() - modifiedAt) < 60_000));
  for (let n = 0; n < 20; n += 1) await files.write(`manifests/${n}.json`, Buffer.from(String(n)));
  t.equal((await files.list('manifests')).length, 20, 'long lists come whole');
  await files.delete(`chunks/aa/${name}`);
  await files.delete(`chunks/aa/${name}`);
  t.equal(await files.read(`chunks/aa/${name}`, 10), undefined);
}

/** `access` says where; the rest is that of the node in the test. */
export async function destinationContract(t: Test, where: Pick<BackupAccess, 'folder' | 'remote'>): Promise<void> {
  const node = await openBackedNode(t);
  const access = { ...node.access, ...where };
  await insertParts(node.storage, ids(0, 60));
  const repository = await openRepositoryForWriting(access);
  t.teardown(() => repository.files.close());
  const first = await createBackup(node.source, repository);
  const second = await createBackup(node.source, await reopened(t, access));
  t.ok(first.stored_bytes > 1_000_000 && second.stored_bytes < 40_000, 'equal content is stored once');
  const expected = await readParts(node.storage);
  await insertParts(node.storage, ids(60, 70));
  const reading = await openRepository(access);
  t.teardown(() => reading.files.close());
  t.equal((await verifyBackup(reading, second.id, node.root)).tables['note_parts'], 60);
  const target = join(newFolder(t), 'data');
  await restoreBackup(reading, first.id, { dataDir: target, stateFiles });
  t.strictSame(await readParts(await openNotes(t, `sqlite:${join(target, 'svc.db')}`)), expected);
  const third = await createBackup(node.source, await reopened(t, access));
  t.match(await prune(repository, 1, Date.now() + 7 * 86_400_000), { backups: 2 });
  t.strictSame(await repository.manifests.listIds(), [third.id]);
  t.equal((await verifyBackup(await reopened(t, access), third.id, node.root)).tables['note_parts'], 70);
  rmSync(join(node.root, 'passphrase'));
  await t.rejects(openRepository(access), { code: 'passphrase_needed' });
}

async function reopened(t: Test, access: BackupAccess) {
  const repository = await openRepositoryForWriting(access);
  t.teardown(() => repository.files.close());
  return repository;
}
