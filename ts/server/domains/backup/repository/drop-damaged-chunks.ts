/** Heals a backup folder: what lies under the name of a chunk and is not that chunk goes, so that the next backup writes it anew. */
import { backupErrors } from '../errors.ts';
import type { Manifest } from './manifest.ts';
import type { Repository } from './repository.ts';

/** Resolves to how many chunks of the backup were damaged. Throws `destination_unusable`. */
export async function dropDamagedChunks(
  { chunks, files }: Pick<Repository, 'chunks' | 'files'>,
  manifest: Pick<Manifest, 'files'>,
): Promise<number> {
  const names = new Set(manifest.files.flatMap((file) => file.chunks));
  let dropped = 0;
  for (const name of names) {
    const fault = await chunks.get(name).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (fault === undefined) continue;
    if (!backupErrors.has(fault) || fault.code !== 'backup_damaged') throw fault;
    await chunks.delete(name);
    dropped += 1;
  }
  await files.sync();
  return dropped;
}
