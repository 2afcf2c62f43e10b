/** A folder with those above it. Its error is the system's: Node's own says ENOENT where the file system is read-only. */
import { mkdir } from 'node:fs/promises';

export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code, path: failed } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && failed !== undefined) await mkdir(failed, { mode: 0o700 });
    throw error;
  }
}
