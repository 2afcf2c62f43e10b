/** The adapters of the program, and those of `data_dir/science/`: a file there with the id of one of the program takes its place. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '../../../platform/module/start-error.ts';
import type { Adapter } from './adapter.ts';

const MOST_BYTES = 256 * 1024;

/** Returns them by id. Throws a StartError for a file that is no adapter. */
export async function loadAdapters(folder: string): Promise<ReadonlyMap<string, Adapter>> {
  const { packagedAdapters } = await import('./packaged.ts');
  const own = await readOwn(folder);
  return new Map([...packagedAdapters, ...own].map((adapter) => [adapter.id, adapter]));
}

async function readOwn(folder: string): Promise<Adapter[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const paths = names.filter((name) => name.endsWith('.json')).map((name) => join(folder, name));
  return await Promise.all(paths.toSorted().map(readAdapter));
}

async function readAdapter(path: string): Promise<Adapter> {
  const { findAdapterFault } = await import('./check-adapter.ts');
  const refuse = (reason: string, cause?: unknown): StartError =>
    new StartError('invalid_adapter', `${path} is no adapter: ${reason}`, 'correct the file, or move it away', cause);
  let value: unknown;
  try {
    const text = await readFile(path, 'utf8');
    if (text.length > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES} bytes`);
    value = JSON.parse(text);
  } catch (cause) {
    throw refuse((cause as Error).message, cause);
  }
  const fault = findAdapterFault(value);
  if (fault !== undefined) throw refuse(fault);
  return value as Adapter;
}
