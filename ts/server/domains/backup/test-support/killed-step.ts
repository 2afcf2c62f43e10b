/** A process that makes or restores backups until it is killed: `create DATA_DIR FOLDER PASSPHRASE_FILE` or `restore ... ID ID`. Without a passphrase the folder is a plain one. */
import { RemovalHold } from '../../../platform/files/removal-hold.ts';
import { createStorage, DataDirLock } from '../../../platform/storage/index.ts';
import { notesModule } from '../../../platform/storage/test-support/notes-module.ts';
import { openRepository, openRepositoryForWriting } from '../repository/repository.ts';
import { createBackup } from '../snapshot/create-backup.ts';
import { restoreBackup } from '../snapshot/restore-backup.ts';
import { accessTo, stateFiles } from './backed-node.ts';

const [task = '', dataDir = '', folder = '', passphraseFile = '', ...backups] = process.argv.slice(2);
const access = { ...accessTo(folder, passphraseFile), plainText: passphraseFile === '' };

if (task === 'create') {
  const storage = createStorage({ url: `sqlite:${dataDir}/svc.db`, modules: [notesModule] });
  await storage.open();
  const repository = await openRepositoryForWriting(access);
  console.log('ready');
  const node = { dataDir, stateFiles, configFiles: [], version: '1.2.3', removals: new RemovalHold() };
  for (;;) await createBackup({ node, storage }, repository);
} else {
  const repository = await openRepository(access);
  console.log('ready');
  for (;;) {
    for (const id of backups) {
      const lock = await DataDirLock.acquire(dataDir, 'test');
      await restoreBackup(repository, id, { dataDir, stateFiles });
      lock.release();
    }
  }
}
