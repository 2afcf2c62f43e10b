/** Checks that the folders of native/llama include each other in one direction. */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** From the bottom. A folder includes itself and what lies below its layer; folders of one layer know nothing of each other. */
export const nativeLayers: readonly (readonly string[])[] = [
  ['common', 'llama-cpp'],
  ['tuning'],
  ['text', 'compute'],
  ['options', 'grammar'],
  ['model'],
  ['sampling', 'kv'],
  ['context'],
  ['speculative', 'output'],
  ['chat'],
  ['queue'],
  ['engine', 'embed'],
  ['bindings'],
];

/** Folders that stand beside native/llama and serve it. */
const outside = new Set(['common', 'llama-cpp']);

export interface NativeIncludes {
  nIncludes: number;
  problems: string[];
}

/** @param root absolute path of a tree laid out like this repository. Tests may include everything. */
export function checkNativeIncludes(root: string): NativeIncludes {
  const files = globSync('native/{common,llama,llama/*}/*.{h,cpp}', { cwd: root }).filter(
    (file) => !file.startsWith('native/llama/test/'),
  );
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
        problems.push(`${file}:${index + 1}: ${folder} may not include ${target}`);
    }
  }
  return { nIncludes, problems };
}

function folderOf(path: string): string | undefined {
  const [, first = '', second = '', file] = path.split('/');
  if (outside.has(first)) return first;
  return first === 'llama' && file !== undefined && layerOf(second) >= 0 ? second : undefined;
}

function layerOf(folder: string): number {
  return nativeLayers.findIndex((layer) => layer.includes(folder));
}

function mayInclude(from: string, to: string | undefined): boolean {
  return to !== undefined && (from === to || layerOf(to) < layerOf(from));
}
