/** `models import`: takes a file that is already on this machine into the library, after looking inside. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, open, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { moveIntoPlace } from '../../../platform/files/atomic-file.ts';
import { checkDiskSpace } from './files/disk-space.ts';
import { lockFile } from './files/file-lock.ts';
import { hashFile } from './files/hash-file.ts';
import { LibraryError } from './files/library-error.ts';
import { type ModelFacts, readModelFacts } from './files/model-facts.ts';
import { listModelFiles } from './model-folder.ts';
import { checkModelName, findPart, modelNameOfFile } from './model-name.ts';
import { type SidecarFile, writeSidecar } from './sidecar.ts';

export interface ImportOptions {
  modelsDir: string;
  name?: string;
  /** Hard-link instead of copying: no space is used, and both names are the same file. */
  link?: boolean;
  force?: boolean;
  license?: string;
  signal?: AbortSignal;
  onProgress?: (file: string, progress: { receivedBytes: number; totalBytes: number }) => void;
}

export interface ImportedModel {
  name: string;
  paths: string[];
  files: SidecarFile[];
  facts: ModelFacts;
}

/** Throws LibraryError not_found, not_a_model, exists, no_space or in_use. */
export async function importModel(path: string, options: ImportOptions): Promise<ImportedModel> {
  const sources = await partsOf(resolve(path));
  const [first = ''] = sources;
  const facts = await readModelFacts(first);
  for (const part of sources.slice(1)) await readModelFacts(part);
  const name = checkModelName((options.name ?? modelNameOfFile(first)).toLowerCase());
  await mkdir(options.modelsDir, { recursive: true });
  const lock = await lockFile(join(options.modelsDir, `${name}.lock`));
  try {
    const files = await takeAll(name, sources, options);
    const { license } = options;
    await writeSidecar(join(options.modelsDir, `${name}.json`), {
      source: first,
      ...(license !== undefined && { license }),
      pulledAt: new Date().toISOString(),
      files,
    });
    return { name, paths: files.map(({ file }) => join(options.modelsDir, file)), files, facts };
  } finally {
    await lock.release();
  }
}

async function partsOf(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw new LibraryError('not_found', `there is no file ${path}`, 'name a .gguf file');
  if (!findPart(path)) return [path];
  const model = (await listModelFiles(dirname(path))).find(({ paths }) => paths.includes(path));
  if (model && model.problem === undefined) return model.paths;
  throw new LibraryError(
    'not_a_model',
    `${path}: ${model?.problem ?? 'its parts are not here'}`,
    'put all parts of the split model into one folder',
  );
}

async function takeAll(name: string, sources: string[], options: ImportOptions): Promise<SidecarFile[]> {
  const targets = sources.map((source) => join(options.modelsDir, targetName(name, source)));
  if (!options.force) await Promise.all(targets.map(checkFree));
  const sizes = await Promise.all(sources.map(async (source) => (await stat(source)).size));
  if (!options.link)
    await checkDiskSpace(
      options.modelsDir,
      sizes.reduce((sum, size) => sum + size, 0),
    );
  const files: SidecarFile[] = [];
  for (const [index, source] of sources.entries()) files.push(await take(source, targets[index] ?? '', options));
  return files;
}

async function checkFree(target: string): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  if (found)
    throw new LibraryError(
      'exists',
      `${target} exists already`,
      'give --force to replace it, or --name to store under another name',
    );
}

function targetName(name: string, source: string): string {
  const part = /-\d{5}-of-\d{5}\.gguf$/i.exec(source)?.[0];
  return `${name}${part ?? (/\.bin$/i.test(source) ? '.bin' : '.gguf')}`;
}

async function take(source: string, target: string, { link: asLink, signal, onProgress }: ImportOptions): Promise<SidecarFile> {
  const partial = `${target}.partial`;
  await rm(partial, { force: true });
  const { size: totalBytes } = await stat(source);
  const report = (receivedBytes: number) => onProgress?.(basename(target), { receivedBytes, totalBytes });
  try {
    const sha256 = asLink
      ? await linkAndHash(source, partial, report, signal)
      : await copyAndHash(source, partial, report, signal);
    await moveIntoPlace(partial, target);
    return { file: basename(target), sha256, sizeBytes: totalBytes };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function linkAndHash(
  source: string,
  partial: string,
  onProgress: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<string> {
  try {
    await link(source, partial);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    throw new LibraryError('read_only', `${source} lies on another disk, so it cannot be linked`, 'import without --link', error);
  }
  return hashFile(partial, { onProgress, ...(signal && { signal }) });
}

async function copyAndHash(
  source: string,
  partial: string,
  onProgress: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(partial, 'wx', 0o644);
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(source, { highWaterMark: 1 << 20, ...(signal && { signal }) })) {
      hash.update(chunk as Buffer);
      await file.appendFile(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      onProgress(bytes);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}
