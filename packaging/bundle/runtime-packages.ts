/** The npm packages that stay packages beside the bundle, since they load compiled code or files of their own. */
import type { NpmPackage } from './npm-package.ts';
import type { PackageFinder } from './package-finder.ts';

/** Packages that others name as needed to run, although only their own compilation needs them. */
const forCompilation = ['node-addon-api'];

/** What esbuild leaves alone. */
export const unbundled = [
  'uWebSockets.js',
  'better-sqlite3',
  '@node-rs/argon2',
  '@biscuit-auth/biscuit-wasm',
  'piscina',
  'pdfjs-dist',
  'sharp',
];

/** Needed for images alone. */
export const mediaPackages: readonly string[] = ['sharp'];

/**
 * Optional packages that the program never loads: pdf.js would draw pages with the canvas (extraction/pdf/pdf-library.ts), piscina would lower
 * the priority of threads if it were asked to, and the HTTP library has a build for each Node.
 */
const neverLoaded = [/^@napi-rs\/(canvas|nice)$/, /^@uwsjs\/.*-(?!22$)\d+$/];

/** The unbundled packages with all that they need on the target, each once, by name. Throws for one that is not installed. */
export async function runtimePackages(
  packages: Pick<PackageFinder, 'find'>,
  names: readonly string[] = unbundled,
): Promise<NpmPackage[]> {
  const found = new Map<string, NpmPackage>();
  const add = async (name: string, isOptional: boolean): Promise<void> => {
    if (found.has(name)) return;
    const entry = await packages.find(name);
    if (entry === undefined) {
      if (isOptional) return;
      throw new Error(`the package ${name} is not installed: run npm start once`);
    }
    found.set(name, entry);
    for (const dependency of entry.dependencies) if (!forCompilation.includes(dependency)) await add(dependency, false);
    for (const dependency of entry.optionalDependencies)
      if (!neverLoaded.some((pattern) => pattern.test(dependency))) await add(dependency, true);
  };
  for (const name of names) await add(name, false);
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
