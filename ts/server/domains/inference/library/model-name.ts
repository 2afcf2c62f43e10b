/** Names of models: what requests use and what files are called. Names come from outside, so everything else is refused. */
import { basename } from 'node:path';
import { LibraryError } from './files/library-error.ts';

const maxLength = 120;
/** Starts with a letter or digit: no dot files, no options, no `..`; no separator of any system, no colon, no space. */
const safe = /^[A-Za-z0-9][A-Za-z0-9._+-]*$/;
/** Device names of Windows, in case the folder is shared with one. */
const reserved = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;
const partEnding = /-(\d{5})-of-(\d{5})$/;

export function isModelName(name: string): boolean {
  return name.length <= maxLength && safe.test(name) && !name.includes('..') && !name.endsWith('.') && !reserved.test(name);
}

/** Throws LibraryError invalid_name unless the name is safe as the name of a file. */
export function checkModelName(name: string): string {
  if (isModelName(name)) return name;
  const shown = JSON.stringify(name.slice(0, maxLength));
  throw new LibraryError(
    'invalid_name',
    `${shown} is not a usable model name`,
    'use letters, digits, dot, underscore, plus and hyphen, starting with a letter or digit, at most 120 characters',
  );
}

/** The model name that a file gets: `Qwen3-0.6B-Q8_0.gguf` -> `qwen3-0.6b-q8_0`; the part number of a split model falls away. */
export function modelNameOfFile(file: string): string {
  return checkModelName(stemOf(file));
}

/** The same, or undefined where that would be no usable name. */
export function findModelName(file: string): string | undefined {
  const stem = stemOf(file);
  return isModelName(basename(file)) && isModelName(stem) ? stem : undefined;
}

function stemOf(file: string): string {
  const stem = basename(file).replace(/\.(gguf|bin)$/i, '');
  return stem.replace(partEnding, '').toLowerCase();
}

/** Part of a split model, counted from 1, from the file's name; llama.cpp finds the parts by their names alone. */
export function findPart(file: string): { index: number; count: number } | undefined {
  const match = partEnding.exec(basename(file).replace(/\.gguf$/i, ''));
  return match ? { index: Number(match[1]), count: Number(match[2]) } : undefined;
}
