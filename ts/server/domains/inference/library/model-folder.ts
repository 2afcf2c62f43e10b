/** The model files of one folder, grouped: the parts of a split model are one entry. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findModelName, findPart, modelNameOfFile } from './model-name.ts';

export interface ModelFiles {
  name: string;
  /** Absolute, in the order of the parts. */
  paths: string[];
  sizeBytes: number;
  /** Newest part, milliseconds since 1970. */
  modifiedMs: number;
  /** Absent means complete. */
  problem?: string;
}

/** Files whose names could not be asked for are left out; a folder that does not exist is empty. */
export async function listModelFiles(folder: string): Promise<ModelFiles[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [] as string[];
    throw error;
  });
  const files = names.filter((name) => /\.(gguf|bin)$/i.test(name) && findModelName(name) !== undefined).sort();
  const groups = Map.groupBy(files, (file) => modelNameOfFile(file));
  const entries = await Promise.all([...groups].map(([name, group]) => describe(folder, name, group)));
  return entries.filter((entry) => entry !== undefined);
}

/**
 * The models that ship in a folder: files in it, and of each folder in it the model that has its name. A checkout keeps a model beside its
 * recipe so (models/NAME/NAME.gguf), a package may do without the folders.
 */
export async function listShippedFiles(folder: string): Promise<{ folder: string; files: ModelFiles }[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const inside = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const own = (await listModelFiles(folder)).map((files) => ({ folder, files }));
  const nested = await Promise.all(inside.map((name) => listNamesake(join(folder, name), name)));
  return [...own, ...nested.flat()];
}

async function listNamesake(folder: string, name: string): Promise<{ folder: string; files: ModelFiles }[]> {
  const found = (await listModelFiles(folder)).filter((files) => files.name === name.toLowerCase());
  return found.map((files) => ({ folder, files }));
}

async function describe(folder: string, name: string, files: string[]): Promise<ModelFiles | undefined> {
  const parts = files.filter((file) => findPart(file) !== undefined);
  // A whole file beside parts of the same name, or the same name in another case: the first whole file counts.
  const chosen = parts.length === files.length ? parts : files.filter((file) => findPart(file) === undefined).slice(0, 1);
  const paths = chosen.map((file) => join(folder, file));
  const stats = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  const found = stats.filter((entry) => entry?.isFile());
  if (found.length !== paths.length) return undefined;
  const count = parts.length === files.length ? (findPart(chosen[0] ?? '')?.count ?? 1) : 1;
  return {
    name,
    paths,
    sizeBytes: found.reduce((sum, entry) => sum + (entry?.size ?? 0), 0),
    modifiedMs: Math.max(...found.map((entry) => entry?.mtimeMs ?? 0)),
    ...(count !== chosen.length && { problem: `${chosen.length} of ${count} parts are here` }),
  };
}
