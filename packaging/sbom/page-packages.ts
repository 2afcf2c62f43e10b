/** The npm packages that are built into the pages, by the files that a bundler reads for them. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import type { NpmPackage } from '../bundle/npm-package.ts';
import { bundledPackages } from './bundled-packages.ts';

export async function pagePackages(source: string): Promise<NpmPackage[]> {
  const { metafile } = await build({
    absWorkingDir: source,
    entryPoints: globSync('ts/web/*/main.tsx', { cwd: source }).map((path) => join(source, path)),
    outdir: join(source, 'build/web'),
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    splitting: true,
    logLevel: 'silent',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // Fonts of a package are its work as well.
    loader: { '.svg': 'copy', '.woff2': 'copy', '.woff': 'copy', '.ttf': 'copy' },
    plugins: [addresses],
  });
  return bundledPackages(source, Object.keys(metafile.inputs));
}

/** A file that is imported as an address is served as it is: it counts, and nothing that it might import. */
const addresses: Plugin = {
  name: 'addresses',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /\?url$/ }, async ({ path, kind, resolveDir }) => {
      const { path: file } = await resolve(path.replace(/\?url$/, ''), { kind, resolveDir });
      return { path: file, namespace: 'address' };
    });
    onLoad({ filter: /.*/, namespace: 'address' }, () => ({ contents: '', loader: 'text' }));
  },
};
