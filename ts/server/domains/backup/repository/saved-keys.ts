/**
 * Keys of backup folders that only the owners of age keys can open: the node that made such a folder keeps its key, to go on writing into it.
 * It is in data_dir alone, whose other files it protects nothing more of, and in no backup.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';

const FOLDER = 'backup-keys';
const KEY_BYTES = 32;

/** Undefined where this node never wrote into the folder with that id. */
export async function readSavedKey(dataDir: string | undefined, id: string): Promise<Buffer | undefined> {
  if (dataDir === undefined) return undefined;
  const text = await readFile(pathOf(dataDir, id), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'EACCES') return undefined;
    throw error;
  });
  const key = Buffer.from(text ?? '', 'base64url');
  return key.length === KEY_BYTES ? key : undefined;
}

export async function writeSavedKey(dataDir: string, id: string, key: Uint8Array): Promise<void> {
  await mkdir(join(dataDir, FOLDER), { recursive: true, mode: 0o700 });
  await writeFileAtomically(pathOf(dataDir, id), `${Buffer.from(key).toString('base64url')}\n`);
}

/** The id of a repository file is a UUID, which its schema checks. */
function pathOf(dataDir: string, id: string): string {
  return join(dataDir, FOLDER, `${id}.key`);
}
