/** Writes the files of a backup into an empty folder of this process, and proves each on the way. */
import { createHash } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../../platform/files/atomic-file.ts';
import type { JobProgress } from '../../../platform/jobs/index.ts';
import { damaged } from '../errors.ts';
import type { ChunkStore } from '../repository/chunk-store.ts';
import type { Manifest, ManifestEntry } from '../repository/manifest.ts';
import type { Repository } from '../repository/repository.ts';
import { readAhead } from './ordered-window.ts';

export interface ExtractOptions {
  onProgress?(progress: JobProgress): void;
  readonly signal?: AbortSignal;
}

/** `locate` says where a file goes. Throws `backup_damaged`; the folder then holds a part. */
export async function extractBackup(
  { chunks }: Repository,
  { files, size_bytes: total }: Manifest,
  locate: (path: string) => string,
  { onProgress, signal }: ExtractOptions = {},
): Promise<void> {
  let done = 0;
  for (const entry of files) {
    await extractFile(chunks, entry, locate(entry.path), (bytes) => {
      signal?.throwIfAborted();
      done += bytes;
      onProgress?.({ done, total, unit: 'bytes', message: entry.path });
    });
  }
}

/** One file of it. */
export async function extractFile(
  chunks: ChunkStore,
  entry: ManifestEntry,
  to: string,
  onChunk: (bytes: number) => void,
): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  let sizeBytes = 0;
  // The folder is new, so there is no link to follow; `wx` refuses one all the same.
  const file = await open(to, 'wx', 0o600);
  try {
    for await (const bytes of readAhead(entry.chunks, chunks.parallel, (name) => chunks.get(name))) {
      hash.update(bytes);
      sizeBytes += bytes.length;
      await file.writeFile(bytes);
      onChunk(bytes.length);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  if (sizeBytes !== entry.size_bytes || hash.digest('hex') !== entry.sha256)
    throw damaged(`${join(entry.path)} comes to other bytes than the manifest says.`);
  await syncFolder(dirname(to));
}
