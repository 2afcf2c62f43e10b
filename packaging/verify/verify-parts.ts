/** The list of what a package is made of: sound, complete, short, and free of scripts. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spdxFaults } from '../sbom/spdx-faults.ts';
import { layout } from '../tree/layout.ts';
import { type Checks, expect } from './checks.ts';

/**
 * Each ships with every copy: a module that needs more says here which. Seven are `age-encryption` with its ciphers, and `undici`; thirteen
 * are the MCP server and client with what they check messages by, and `cross-spawn` with five of its own, by which the client starts programs.
 */
const MOST_PACKAGES = 82;

interface Sbom {
  packages: { name: string; primaryPackagePurpose: string }[];
}

export async function verifyParts(checks: Checks, tree: string, what: string): Promise<void> {
  const document = JSON.parse(readFileSync(join(tree, layout.docs, 'sbom.spdx.json'), 'utf8')) as Sbom;
  const manifests = globSync('{*,@*/*}/package.json', { cwd: join(tree, layout.packages) });
  const libraries = document.packages.filter((part) => part.primaryPackagePurpose === 'LIBRARY').map(({ name }) => name);
  await checks.try(`${what}: the list of parts is sound SPDX 2.3`, () => {
    const faults = spdxFaults(document);
    expect(faults.length === 0, faults.slice(0, 10).join('; '));
    return `${document.packages.length} parts`;
  });
  await checks.try(`${what}: every package that is inside is listed, with its license`, () => {
    const listed = new Set(document.packages.map(({ name }) => name));
    const inside = manifests.map((path) => path.replace('/package.json', ''));
    const missing = inside.filter((name) => !listed.has(name));
    expect(missing.length === 0, `the list lacks ${missing.join(', ')}`);
    const bare = libraries.filter((name) => globSync('*', { cwd: licenseFolder(tree, name) }).length === 0);
    expect(bare.length === 0, `no license file of ${bare.join(', ')}`);
    return undefined;
  });
  await checks.try(`${what}: at most ${MOST_PACKAGES} npm packages run, in the server or in the pages`, () => {
    expect(libraries.length <= MOST_PACKAGES, `${libraries.length}: ${libraries.join(', ')}`);
    return `${libraries.length}, ${manifests.length} of them beside the program`;
  });
  await checks.try(`${what}: no package that ships runs a script when it is installed`, () => {
    const bad = manifests.filter((path) => {
      const manifest = JSON.parse(readFileSync(join(tree, layout.packages, path), 'utf8')) as {
        scripts?: Record<string, string>;
      };
      return ['preinstall', 'install', 'postinstall'].some((name) => manifest.scripts?.[name] !== undefined);
    });
    expect(bad.length === 0, bad.join(', '));
    return undefined;
  });
}

const licenseFolder = (tree: string, name: string) => join(tree, layout.licenses, name.replace('/', '__'));
