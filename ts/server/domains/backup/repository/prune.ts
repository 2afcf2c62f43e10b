/** Deletes the oldest backups, and the chunks that no backup needs any more. */
import type { BackupFiles } from '../destinations/backup-files.ts';
import type { Repository } from './repository.ts';

/** A chunk that no manifest lists yet may belong to a backup that another process is writing. */
const GRACE_MS = 24 * 3_600_000;

/** `keep` 0 deletes no backup. Throws DomainError when a manifest cannot be read: nothing is deleted on a guess. */
export async function prune(
  repository: Repository,
  keep: number,
  now = Date.now(),
): Promise<{ backups: number; chunks: number }> {
  const { manifests, sealing } = repository;
  const ids = await manifests.listIds();
  const old = keep === 0 ? [] : ids.slice(0, Math.max(0, ids.length - keep));
  const used = new Set<string>();
  for (const id of ids.slice(old.length))
    for (const { chunks } of (await manifests.get(id, sealing)).files) for (const name of chunks) used.add(name);
  for (const id of old) await manifests.delete(id);
  return { backups: old.length, chunks: await sweep(repository.files, used, now - GRACE_MS) };
}

/** Files of a killed process are swept as well, since no manifest lists them. */
async function sweep(files: BackupFiles, used: ReadonlySet<string>, before: number): Promise<number> {
  const unused = (await files.list('chunks')).filter(
    ({ path, modifiedAt }) => modifiedAt < before && !used.has(path.slice(path.lastIndexOf('/') + 1)),
  );
  for (const { path } of unused) await files.delete(path);
  await files.sync();
  return unused.length;
}
