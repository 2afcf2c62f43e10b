/** The server and the CLI as a few files of JavaScript: what `svc` runs from when it is installed. */
import { copyFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { unbundled } from './runtime-packages.ts';
import { isDatabaseThread, workerFiles, workerUrls } from './worker-urls.ts';

/** The PostgreSQL client asks for this on another runtime than Node. */
const neverRun = ['pg-cloudflare'];

/** CommonJS packages inside a module ask for Node's own modules by `require`. */
const requireBanner =
  "import { createRequire as bundleRequire } from 'node:module'; const require = bundleRequire(import.meta.url);";

/** What load-program.cjs gives the program, which is a script: only scripts can be loaded from a code cache. */
const programScope = '(function (exports, require, module, __filename, __dirname, bundleUrl) {';

/**
 * Writes `folder` anew: svc.cjs, which loads program.cjs with its code cache, and one file for each program that the server starts, with
 * what those share. Same sources and same Node, same bytes. Resolves to the paths of what went in, relative to `root`.
 */
export async function writeBundle(root: string, folder: string): Promise<string[]> {
  await removeBundle(folder);
  const shared: BuildOptions = {
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    platform: 'node',
    target: 'node22',
    // Names stay: they are part of logs and stacks. Telling each function its name (keepNames) would cost a start some 20 ms.
    minifyWhitespace: true,
    minifySyntax: true,
    // A chunk is named by the paths of what is in it: those below `root`, also where packages are a link to another folder's.
    preserveSymlinks: true,
    legalComments: 'none',
    metafile: true,
    external: [...unbundled, ...neverRun],
    plugins: [workerUrls],
    logLevel: 'warning',
  };
  const [threads, others] = partition(workerFiles(root), isDatabaseThread);
  const program = await build({
    ...shared,
    entryPoints: { program: join(import.meta.dirname, 'program.ts') },
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    define: { 'import.meta.url': 'bundleUrl', 'import.meta.dirname': '__dirname' },
    banner: { js: programScope },
    footer: { js: '})' },
    // What the program loads as it runs, it requires: the loader of modules would be one more part to start.
    supported: { 'dynamic-import': false },
  });
  const database = await build({
    ...shared,
    entryPoints: threads,
    entryNames: '[name]',
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
  });
  const workers = await build({
    ...shared,
    entryPoints: others,
    entryNames: '[name]',
    chunkNames: 'part-[hash]',
    splitting: true,
    format: 'esm',
    banner: { js: requireBanner },
  });
  for (const file of ['svc.cjs', 'load-program.cjs']) await copyFile(join(import.meta.dirname, file), join(folder, file));
  return [program, database, workers].flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {}));
}

/** Throws for a folder that holds anything but an earlier bundle. */
async function removeBundle(folder: string): Promise<void> {
  const files = await readdir(folder).catch((): string[] => []);
  if (files.length > 0 && !files.includes('svc.cjs'))
    throw new Error(`${folder} holds no bundle: name a folder that may be emptied`);
  await rm(folder, { recursive: true, force: true });
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}
