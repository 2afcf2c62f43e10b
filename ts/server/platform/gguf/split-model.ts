import { basename, dirname, join } from 'node:path';
import type { GgufFile } from './gguf-reader.ts';

/**
 * Paths of all parts of the model whose first (or any) part is `path`, in order; one path for a model that is not split.
 * Throws RangeError when the file name is not `<name>-00001-of-0000N.gguf` for this part: llama.cpp finds parts by name alone.
 */
export function splitModelPaths(path: string, { split }: Pick<GgufFile, 'split'>): string[] {
  if (!split) return [path];
  const ending = partEnding(split.index, split.count);
  const name = basename(path);
  if (!name.endsWith(ending)) {
    throw new RangeError(`part ${split.index + 1} of a split model must be named *${ending}, but the file is ${name}`);
  }
  const prefix = name.slice(0, -ending.length);
  return Array.from({ length: split.count }, (_, index) => join(dirname(path), `${prefix}${partEnding(index, split.count)}`));
}

function partEnding(index: number, count: number): string {
  const number = (value: number) => String(value).padStart(5, '0');
  return `-${number(index + 1)}-of-${number(count)}.gguf`;
}
