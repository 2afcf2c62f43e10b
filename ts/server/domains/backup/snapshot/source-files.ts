/** The files of a node that a backup holds beside its database. */
import { lstat, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Node } from '../../../platform/node/node.ts';

export interface SourceFile {
  /** In the backup. */
  readonly path: string;
  /** On this machine. */
  readonly source: string;
  readonly sizeBytes: number;
}

/** Links and other files that are none are left out, and so is what is not there. */
export async function listSourceFiles({
  dataDir,
  stateFiles,
  configFiles,
}: Pick<Node, 'dataDir' | 'stateFiles' | 'configFiles'>): Promise<SourceFile[]> {
  const found: SourceFile[] = [];
  for (const { name } of stateFiles) await addTree(found, join(dataDir, name), `data/${name}`);
  for (const [n, path] of configFiles.entries()) await addTree(found, path, `config/${n}-${basename(path)}`);
  return found;
}

async function addTree(found: SourceFile[], source: string, path: string): Promise<void> {
  const facts = await lstat(source).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (facts?.isFile()) found.push({ path, source, sizeBytes: facts.size });
  if (!facts?.isDirectory()) return;
  for (const name of (await readdir(source)).sort()) await addTree(found, join(source, name), `${path}/${name}`);
}
