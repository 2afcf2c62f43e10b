import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { createStorage, tenantScope } from '../../../platform/storage/index.ts';
import { files } from '../../files/index.ts';
import { fileModules } from '../../files/uploads/test-support/upload-bed.ts';
import { openRepositoryForWriting } from '../repository/repository.ts';
import { openBackedNode } from '../test-support/backed-node.ts';
import { createBackup } from './create-backup.ts';
import { verifyBackup } from './verify-backup.ts';

interface BlobTables {
  data_blobs: { tenant: string; sha256: string; bytes: number; stored_at: number };
  data_blob_parts: { tenant: string; sha256: string; seq: number; content: Uint8Array };
}

t.test('rows that name a file which the backup has not are told, and others are not', async (t) => {
  const node = await openBackedNode(t);
  const { stateFiles = [] } = files;
  const storage = createStorage({
    url: `sqlite:${join(node.root, 'data.db')}`,
    modules: fileModules,
  });
  await storage.open();
  t.teardown(() => storage.close());
  const [there, lost, inDatabase] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string];
  await storage
    .access<BlobTables>()
    .writeUnit(tenantScope('red'), (db) => [
      ...[there, lost, inDatabase].map((sha256) =>
        db.insertInto('data_blobs').values({ tenant: 'red', sha256, bytes: 1, stored_at: 1 }),
      ),
      db.insertInto('data_blob_parts').values({ tenant: 'red', sha256: inDatabase, seq: 0, content: new Uint8Array(1) }),
    ]);
  const pathOf = (sha256: string): string => stateFiles[0]?.rows?.pathOf(['red', sha256]) ?? '';
  const file = join(node.dataDir, 'blobs', pathOf(there));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'x');
  const repository = await openRepositoryForWriting(node.access);
  const source = { node: { ...node.source.node, stateFiles }, storage };
  const { id } = await createBackup(source, repository);
  const { missing } = await verifyBackup(repository, id, node.root, { stateFiles });
  t.strictSame(missing, [`data/blobs/${pathOf(lost)}`]);
  t.strictSame((await verifyBackup(repository, id, node.root)).missing, [], 'without the modules nothing is known of rows');
});
