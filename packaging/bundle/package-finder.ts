/** npm packages by name: those that are installed here, and those of another platform, fetched as package-lock.json pins them. */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fetchSource, sourceFolder } from '../../scripts/setup/sources.mjs';
import { type NpmPackage, readNpmPackage } from './npm-package.ts';

export interface Target {
  platform: 'linux' | 'darwin';
  arch: 'x64' | 'arm64';
}

interface LockEntry {
  name?: string;
  version: string;
  integrity: string;
  license?: string;
  os?: string | string[];
  cpu?: string | string[];
  libc?: string | string[];
}

/**
 * Packages that the HTTP library names and that were never published: its builds for ARM64, taken from another publisher of the same library.
 * They need glibc 2.38, which every system has that the packages are for.
 */
const publishedElsewhere: Record<string, LockEntry & { cpu: string; os: string; name: string }> = Object.fromEntries(
  ['linux', 'darwin'].map((os) => [
    `@uwsjs/${os}-arm64-22`,
    {
      name: '@btc-vision/uwebsockets.js',
      version: '20.57.0',
      integrity: 'sha512-SuPpEjSKZ7P58L/27BXXsrGsMwLmPupfYny8oJsOmFZ4+zX7Ca97nBPtZ3ngKbfeDZzTyi7rXri74INGerhugg==',
      license: 'Apache-2.0',
      os,
      cpu: 'arm64',
    },
  ]),
);

export class PackageFinder {
  readonly #nodeModules: string;
  readonly #locked: Record<string, LockEntry>;
  readonly #target: Target;

  /** `source`: the checkout. */
  constructor(source: string, target: Target) {
    this.#nodeModules = join(source, 'node_modules');
    this.#target = target;
    this.#locked = (
      JSON.parse(readFileSync(join(source, 'package-lock.json'), 'utf8')) as { packages: Record<string, LockEntry> }
    ).packages;
  }

  /** Undefined: it is not for the target, or not among the project's packages. Throws when it cannot be fetched. */
  async find(name: string): Promise<NpmPackage | undefined> {
    const entry = this.#locked[`node_modules/${name}`] ?? publishedElsewhere[name];
    if (entry === undefined || !this.#runs(entry)) return undefined;
    const installed = readNpmPackage(join(this.#nodeModules, name), name);
    const found = installed ?? readNpmPackage(await fetchLocked(name, entry), name);
    return found && { ...found, published: entry.name ?? name };
  }

  #runs({ os, cpu, libc }: LockEntry): boolean {
    const { platform, arch } = this.#target;
    const has = (wanted: string | string[] | undefined, own: string) => wanted === undefined || [wanted].flat().includes(own);
    return has(os, platform) && has(cpu, arch) && (platform !== 'linux' || has(libc, 'glibc'));
  }
}

async function fetchLocked(name: string, { name: published = name, version, integrity, license }: LockEntry): Promise<string> {
  const pin = {
    package: published,
    version,
    integrity,
    folder: '.',
    marker: 'package.json',
    upstreamVersion: version,
    license: license ?? '',
    override: '',
  };
  mkdirSync(dirname(sourceFolder(pin)), { recursive: true });
  return await fetchSource(pin);
}
