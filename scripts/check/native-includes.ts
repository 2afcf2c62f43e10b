/** Checks that the folders of the addons' native code include each other in one direction. */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** By addon, from the bottom. A folder includes itself and what lies below its layer; folders of one layer know nothing of each other. */
const nativeLayers: Readonly<Record<string, readonly (readonly string[])[]>> = {
  llama: [
    ['common', 'llama-cpp', 'scheduling'],
    ['tuning'],
    ['text', 'compute'],
    ['options', 'grammar'],
    ['model'],
    ['sampling', 'kv'],
    ['context'],
    ['speculative', 'output'],
    ['chat'],
    ['queue'],
    ['planning', 'decoding'],
    ['engine', 'embed', 'speech'],
    ['bindings'],
  ],
  vector: [['common'], ['files', 'kernels'], ['rows'], ['index'], ['bindings']],
  whisper: [['common', 'scheduling', 'whisper-cpp'], ['voice', 'model'], ['decoding'], ['jobs'], ['bindings']],
};

/** Folders that stand beside those of the addons and serve them. */
const outside = new Set(['common', 'llama-cpp', 'scheduling', 'whisper-cpp']);
/** The folders outside that include others of them. */
const below: Readonly<Record<string, readonly string[]>> = { scheduling: ['common', 'llama-cpp'] };

interface Folder {
  /** Undefined: one of those outside. */
  addon: string | undefined;
  name: string;
}

interface NativeIncludes {
  nIncludes: number;
  problems: string[];
}

/** @param root absolute path of a tree laid out like this repository. Tests may include everything. */
export function checkNativeIncludes(root: string): NativeIncludes {
  const files = globSync('native/{common,scheduling,llama,llama/*,vector,vector/*,whisper,whisper/*}/*.{h,cpp}', {
    cwd: root,
  }).filter((file) => !file.includes('/test/'));
  const known = new Set(files);
  const problems: string[] = [];
  let nIncludes = 0;
  for (const file of files.sort()) {
    const folder = folderOf(file);
    if (folder === undefined) problems.push(`${file} lies in no folder of scripts/check/native-includes.ts`);
    const lines = readFileSync(join(root, file), 'utf8').split('\n');
    for (const [index, line] of lines.entries()) {
      const written = /^\s*#\s*include\s+"([^"]+)"/.exec(line)?.[1];
      if (written === undefined) continue;
      const target = posix.join(posix.dirname(file), written);
      // What is neither beside the file nor written as a relative path is a header of a library.
      if (!written.startsWith('.') && !known.has(target)) continue;
      nIncludes++;
      const to = folderOf(target);
      if (folder !== undefined && !mayInclude(folder, to))
        problems.push(`${file}:${index + 1}: ${folder.name} may not include ${target}`);
    }
  }
  return { nIncludes, problems };
}

function folderOf(path: string): Folder | undefined {
  const [, first = '', second = '', file] = path.split('/');
  if (outside.has(first)) return { addon: undefined, name: first };
  return file !== undefined && layerOf(first, second) >= 0 ? { addon: first, name: second } : undefined;
}

function layerOf(addon: string, folder: string): number {
  return nativeLayers[addon]?.findIndex((layer) => layer.includes(folder)) ?? -1;
}

function mayInclude(from: Folder, to: Folder | undefined): boolean {
  if (to === undefined) return false;
  if (from.addon === to.addon && from.name === to.name) return true;
  const { addon } = from;
  if (addon === undefined && to.addon === undefined) return below[from.name]?.includes(to.name) === true;
  if (addon === undefined || (to.addon ?? addon) !== addon) return false;
  return layerOf(addon, to.name) >= 0 && layerOf(addon, to.name) < layerOf(addon, from.name);
}
