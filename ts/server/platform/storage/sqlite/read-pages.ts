/** Reads a database file in a process of its own (`ts/workers/database-pages.ts`). */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { PagesNews, PagesTask } from '../../../../workers/database-pages.ts';
import { StorageError } from '../storage-error.ts';

const SCRIPT = fileURLToPath(new URL('../../../../workers/database-pages.ts', import.meta.url));

export interface ReadPages {
  /** SHA-256 of each chunk, in their order. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
  /** Of all of it. */
  readonly sha256: string;
}

/** `onChunk` takes the chunks that are not the known ones; a few are read ahead of it. Throws StorageError, or what `onChunk` throws. */
export async function readPages(
  task: PagesTask,
  onChunk: (bytes: Uint8Array, at: number) => Promise<void>,
  signal?: AbortSignal,
): Promise<ReadPages> {
  signal?.throwIfAborted();
  const child = fork(SCRIPT, {
    execArgv: ['--no-warnings'],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const over = Promise.withResolvers<ReadPages>();
  const stop = (): void => over.reject(signal?.reason as Error);
  signal?.addEventListener('abort', stop);
  const taking = new Set<Promise<void>>();
  child.on('message', (news: PagesNews) => {
    if (news.kind === 'failed') over.reject(unreadable(task.file, news.message));
    else if (news.kind === 'done') void Promise.all(taking).then(() => over.resolve(news), over.reject);
    else {
      const one = onChunk(news.bytes, news.at).then(() => {
        taking.delete(one);
        child.send('taken');
      });
      one.catch(over.reject);
      taking.add(one);
    }
  });
  child.on('error', (error) => over.reject(unreadable(task.file, error.message)));
  child.on('exit', () => over.reject(unreadable(task.file, 'the process that reads it ended')));
  child.send(task);
  try {
    return await over.promise;
  } finally {
    signal?.removeEventListener('abort', stop);
    if (child.connected) child.disconnect();
    child.kill('SIGKILL');
  }
}

function unreadable(file: string, message: string): StorageError {
  return new StorageError('storage_unavailable', `The database file ${file} cannot be read: ${message}.`, {
    remedy: 'See whether the disk works and the file is whole.',
  });
}
