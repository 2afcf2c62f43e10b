/** Files that are either there whole or not at all, also after a power cut. */
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export async function writeFileAtomically(path: string, text: string, mode = 0o644): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  const file = await open(temporary, 'w', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await moveIntoPlace(temporary, path);
}

/** Renames a file whose bytes are already synced, and syncs the folder so that the new name survives too. */
export async function moveIntoPlace(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    await rm(from, { force: true });
    throw error;
  }
  await syncFolder(dirname(to));
}

/** Makes the names in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  let folder: FileHandle | undefined;
  try {
    folder = await open(path, 'r');
    await folder.sync();
  } catch (error) {
    // Some network file systems refuse to sync a folder; the rename itself has happened.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EINVAL' && code !== 'EPERM' && code !== 'EISDIR' && code !== 'ENOTSUP') throw error;
  } finally {
    await folder?.close();
  }
}
