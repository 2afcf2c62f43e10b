/** Source files that a document names in backticks, and whether they are there. */
import { globSync } from 'node:fs';
import { posix } from 'node:path';

interface NamedPath {
  /** As it is written: from the root, or the end of a path, or a pattern with `*`. */
  path: string;
  /** From 1. */
  line: number;
}

const sourcePath = /`([\w./*-]*[\w*]\.(?:ts|mjs|cpp|h))`/g;

/** Files of llama.cpp, which the documents name beside ours. */
const upstream = new Set(['llama-io.h', 'llama.h']);

export function pathsIn(document: string): NamedPath[] {
  return document
    .split('\n')
    .flatMap((text, index) => [...text.matchAll(sourcePath)].map(([, path = '']) => ({ path, line: index + 1 })))
    .filter(({ path }) => !upstream.has(path));
}

/** The source files of a tree laid out like this repository, relative to its root. */
export function sourceFilesOf(root: string): string[] {
  return globSync(['{ts,native,scripts,models,bench,test}/**/*.{ts,mjs,cpp,h}', 'packaging/{*,*/*}.ts'], {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  });
}

/**
 * The files that a named path can mean: itself from the root, else one beside the file named before it, else all whose path ends
 * with it.
 */
export function resolvePath(path: string, files: readonly string[], before?: string): string[] {
  const beside = before === undefined ? undefined : posix.join(posix.dirname(before), path);
  for (const exact of [path, beside]) if (exact !== undefined && files.includes(exact)) return [exact];
  // A folder in capitals stands for any: `domains/NAME/index.ts`.
  const pattern = path.replaceAll(/(?<=^|\/)[A-Z]+(?=\/)/g, '*');
  return files.filter((file) => posix.matchesGlob(file, pattern) || posix.matchesGlob(file, `**/${pattern}`));
}

/** Named files that do not exist, as `document:line: ...`. */
export function missingPaths(name: string, document: string, files: readonly string[]): string[] {
  return pathsIn(document)
    .filter(({ path }) => resolvePath(path, files).length === 0)
    .map(({ path, line }) => `${name}:${line}: ${path} does not exist`);
}
