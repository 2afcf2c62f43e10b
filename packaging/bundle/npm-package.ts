/** A folder with an npm package, as its package.json says. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface NpmPackage {
  /** The name that it is imported by, which an alias makes another than the published one. */
  name: string;
  /** The name that it was published by; undefined: the same. */
  published?: string;
  version: string;
  license: string;
  /** Who is named as its author; empty: nobody. */
  author: string;
  /** Where it lies, absolute. */
  folder: string;
  dependencies: string[];
  optionalDependencies: string[];
}

interface Manifest {
  version: string;
  license?: string;
  licenses?: { type: string }[];
  author?: string | { name?: string };
  dependencies?: object;
  optionalDependencies?: object;
}

/** Undefined: there is none. */
export function readNpmPackage(folder: string, name: string): NpmPackage | undefined {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return undefined;
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  const { version, author = '', dependencies = {}, optionalDependencies = {} } = manifest;
  // Old packages have a list.
  const license = manifest.license ?? manifest.licenses?.map(({ type }) => type).join(' OR ') ?? 'NOASSERTION';
  const needed = { dependencies: Object.keys(dependencies), optionalDependencies: Object.keys(optionalDependencies) };
  const maker = typeof author === 'string' ? author : (author.name ?? '');
  return { name, version, license, author: maker, folder, ...needed };
}
