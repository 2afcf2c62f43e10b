/** Processes that make or restore backups and are killed at a random moment. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { random } from '../../../../../test/test-support/seed.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { createStorage, DataDirLock } from '../../../platform/storage/index.ts';
import { notesModule } from '../../../platform/storage/test-support/notes-module.ts';
import { prune } from '../repository/prune.ts';
import { openRepository, openRepositoryForWriting } from '../repository/repository.ts';
import { createBackup } from '../snapshot/create-backup.ts';
import { verifyBackup } from '../snapshot/verify-backup.ts';
import { type BackedNode, ids, insertParts, openBackedNode, readParts, writeState } from './backed-node.ts';

/** In the long run a hundred of each kind together: encrypted folders and plain ones are files of their own, which run beside each other. */
const nKills = iterations(3, 50, 'SVC_TEST_KILLS');

async function openNode(t: Test, plainText: boolean): Promise<BackedNode> {
  const node = await openBackedNode(t);
  return plainText ? { ...node, access: { ...node.access, passphraseFile: '', plainText } } : node;
}

/** Starts the program, lets it work for a random time, and kills it. */
async function killOnce(args: readonly string[]): Promise<void> {
  const program = join(import.meta.dirname, 'killed-step.ts');
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), exited]);
  await wait(random.next() * 800);
  if (child.exitCode !== null) throw new Error(`the program ended by itself with ${child.exitCode}`);
  child.kill('SIGKILL');
  await exited;
}

/** Whole backups are left, and a folder that goes on. */
export async function killWhileCreating(t: Test, plainText: boolean): Promise<void> {
  const node = await openNode(t, plainText);
  await insertParts(node.storage, ids(0, 30));
  await node.storage.close();
  const { folder, passphraseFile } = node.access;
  for (let round = 0; round < nKills; round += 1) {
    await killOnce(['create', node.dataDir, folder, passphraseFile]);
    const repository = await openRepository(node.access);
    const listed = await repository.manifests.listIds();
    const newest = listed.at(-1);
    if (newest !== undefined) await verifyBackup(repository, newest, node.root);
  }
  const repository = await openRepositoryForWriting(node.access);
  const storage = createStorage({ url: `sqlite:${node.dataDir}/svc.db`, modules: [notesModule] });
  await storage.open();
  t.teardown(() => storage.close());
  const { id } = await createBackup({ ...node.source, storage }, repository);
  await prune(repository, 1, Date.now() + 7 * 86_400_000);
  t.strictSame(await repository.manifests.listIds(), [id]);
  t.equal((await verifyBackup(repository, id, node.root)).tables['note_parts'], 30);
}

/** The old state is left or the new one, never a mixture. */
export async function killWhileRestoring(t: Test, plainText: boolean): Promise<void> {
  const node = await openNode(t, plainText);
  const repository = await openRepositoryForWriting(node.access);
  await insertParts(node.storage, ids(0, 10));
  const first = await createBackup(node.source, repository);
  await insertParts(node.storage, ids(10, 30));
  writeState(node.dataDir, 'second');
  const second = await createBackup(node.source, repository);
  const rowsOf: Record<string, number> = { first: 10, second: 30 };

  const target = join(newFolder(t), 'data');
  await mkdir(target);
  const seen = new Map<string, number>();
  const args = [target, node.access.folder, node.access.passphraseFile];
  for (let round = 0; round < nKills; round += 1) {
    // Each round begins with the other backup than the one before, so that both are replaced.
    const order = round % 2 === 0 ? [first.id, second.id] : [second.id, first.id];
    await killOnce(['restore', ...args, ...order]);
    const lock = await DataDirLock.acquire(target, 'test');
    lock.release();
    t.notOk(existsSync(join(target, '.restore')), 'the next process finishes or drops what the killed one began');
    if (!existsSync(join(target, 'svc.db'))) {
      t.notOk(existsSync(join(target, 'sealing.key')));
      continue;
    }
    const { mark } = JSON.parse(readFileSync(join(target, 'node.json'), 'utf8')) as { mark: string };
    seen.set(mark, (seen.get(mark) ?? 0) + 1);
    t.equal(readFileSync(join(target, 'sealing.key'), 'utf8'), `the secret of ${mark}\n`);
    t.ok(readFileSync(join(target, 'blobs', 'ab', 'large')).equals(Buffer.alloc(700_000, mark)));
    const storage = createStorage({ url: `sqlite:${target}/svc.db`, modules: [notesModule] });
    await storage.open();
    t.equal((await readParts(storage)).length, rowsOf[mark]);
    await storage.close();
  }
  t.comment(JSON.stringify(Object.fromEntries(seen)));
}
