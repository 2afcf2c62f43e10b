import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { RemovalHold } from '../../../platform/files/removal-hold.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { createStorage, systemScope, tenantScope } from '../../../platform/storage/index.ts';
import { fileModules } from '../uploads/test-support/upload-bed.ts';
import { BlobStore } from './blob-store.ts';

const red = tenantScope('red');
const sha256 = 'a'.repeat(64);

async function open(t: Test) {
  const folder = newFolder(t);
  const storage = createStorage({
    url: `sqlite:${join(folder, 'svc.db')}`,
    modules: fileModules,
  });
  await storage.open();
  t.teardown(() => storage.close());
  const hold = new RemovalHold();
  const blobs = new BlobStore(storage, join(folder, 'blobs'), true, hold);
  const store = async (): Promise<void> => {
    const from = join(folder, 'upload');
    writeFileSync(from, 'x');
    await blobs.store(red, from, { sha256, sizeBytes: 1 }, Date.now());
  };
  return { blobs, hold, store, isThere: () => existsSync(blobs.pathOf(red, sha256)) };
}

t.test('what was made of a file goes with it, and what a crash left of it with the orphans', async (t) => {
  const { blobs, store } = await open(t);
  const make = (tenant = red) => {
    const folder = blobs.derivedFolder(tenant, sha256);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'text'), 'x');
    return folder;
  };
  await store();
  const [own, foreign] = [make(), make(tenantScope('blue'))];
  await blobs.removeOrphans(systemScope(), Number.MAX_SAFE_INTEGER);
  t.strictSame([existsSync(own), existsSync(foreign)], [true, false]);
  await blobs.remove(red, sha256);
  t.equal(existsSync(own), false);
});

t.test('a file that is erased while a backup reads goes when the backup ends', async (t) => {
  const { blobs, hold, store, isThere } = await open(t);
  await store();
  const release = hold.hold();
  await blobs.remove(red, sha256);
  t.equal(await blobs.find(red, sha256), undefined);
  await blobs.removeOrphans(systemScope(), Number.MAX_SAFE_INTEGER);
  t.ok(isThere());
  await release();
  t.notOk(isThere());
});

t.test('a file that is stored again while a backup reads stays', async (t) => {
  const { blobs, hold, store, isThere } = await open(t);
  await store();
  const release = hold.hold();
  await blobs.remove(red, sha256);
  await store();
  await release();
  t.ok(isThere());
});
