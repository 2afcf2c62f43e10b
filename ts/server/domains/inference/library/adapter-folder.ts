/** LoRA adapters of a model: the GGUF files in `<model name>.loras` beside it. */
import { join } from 'node:path';
import type { StoredAdapter } from '../models/model-source.ts';
import { listModelFiles } from './model-folder.ts';

/** In the order of their names, which is also that of their numbers for clients that name adapters by number. */
export async function listAdapters(folder: string, modelName: string): Promise<StoredAdapter[]> {
  const files = await listModelFiles(join(folder, `${modelName}.loras`));
  const adapters = files.flatMap(({ name, paths: [path] }) => (path === undefined ? [] : [{ name, path }]));
  return adapters.sort((a, b) => (a.name < b.name ? -1 : 1));
}
