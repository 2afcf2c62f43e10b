/** Programs that the server starts by their file: threads, pool tasks and child processes. Each becomes a file of the bundle. */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

const pattern = /new URL\('([^']+)\.ts', import\.meta\.url\)/g;
const isTest = /\.(test|contract)\.ts$|\/test-support\//;

/** Every .ts file below ts/ that shipped code names by URL, absolute. Throws when two of them would be one file of the bundle. */
export function workerFiles(root: string): string[] {
  const sources = globSync('ts/**/*.ts', { cwd: root }).filter((path) => !isTest.test(path));
  const found = new Set<string>();
  for (const source of sources.map((path) => join(root, path))) {
    for (const [, path] of readFileSync(source, 'utf8').matchAll(pattern)) found.add(join(dirname(source), `${path}.ts`));
  }
  const files = [...found].sort();
  const names = files.map((file) => basename(file));
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`two programs that the server starts are called ${twice}: rename one`);
  return files;
}

/** Those that every start of the server waits for are scripts, which start sooner than modules. */
export const isDatabaseThread = (file: string): boolean => ['sqlite-writer', 'sqlite-reader'].includes(basename(file, '.ts'));

/** In the bundle all files lie in one folder, so a program is found beside whoever starts it. */
export const workerUrls: Plugin = {
  name: 'worker-urls',
  setup(build) {
    build.onLoad({ filter: /[\\/]ts[\\/].*\.ts$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8');
      const besides = (_: string, file: string) =>
        `new URL('./${basename(file)}.${isDatabaseThread(file) ? 'cjs' : 'js'}', import.meta.url)`;
      return { contents: contents.replace(pattern, besides), loader: 'ts' };
    });
  },
};
