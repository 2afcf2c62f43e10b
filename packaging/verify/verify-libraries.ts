/** The compiled files of a package: each is loaded by something, and what they need is there. */
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Making } from '../making.ts';
import { lackingVariants } from '../tree/flavour-variants.ts';
import { layout } from '../tree/layout.ts';
import { isSystemLibrary, neededLibraries } from '../tree/needed-libraries.ts';
import { type Checks, expect } from './checks.ts';

/** Presets that build all of them. */
const allVariants = ['release', 'arm64'];

/** What is loaded by its name: addons, the programs that are started, and backends, of which ggml takes the best. */
const isLoadedByName = (name: string) => /\.node$|^svc_(confine|flite)$|^libggml-cpu-.+\.so$/.test(name);

export async function verifyLibraries(checks: Checks, { tree, flavour, build }: Making, what: string): Promise<void> {
  const folder = join(tree, layout.native);
  const preset = basename(build);
  if (allVariants.includes(preset))
    await checks.try(`${what}: every CPU variant that ships is there`, () => {
      const lacking = lackingVariants(flavour, globSync('libggml-cpu-*', { cwd: folder }));
      expect(lacking.length === 0, `it lacks ${lacking.join(', ')}`);
      return undefined;
    });
  else checks.skip(`${what}: every CPU variant that ships is there`, `the preset ${preset} builds those of this machine alone`);
  await checks.try(`${what}: every library is needed, and every one that is needed is there`, async () => {
    const files = globSync('*', { cwd: folder }).sort();
    const variants = files.filter((name) => name.startsWith('libggml-cpu-'));
    expect(variants.length > 0, 'there is no CPU variant');
    const loaded = new Set<string>();
    const missing = new Set<string>();
    const load = async (name: string): Promise<void> => {
      if (loaded.has(name)) return;
      if (!files.includes(name)) return void missing.add(name);
      loaded.add(name);
      for (const needed of await neededLibraries(join(folder, name))) if (!isSystemLibrary(needed)) await load(needed);
    };
    for (const name of files.filter(isLoadedByName)) await load(name);
    expect(missing.size === 0, `nothing brings ${[...missing].join(', ')}`);
    const idle = files.filter((name) => !loaded.has(name));
    expect(idle.length === 0, `nothing loads ${idle.join(', ')}`);
    return `${files.length} files, ${variants.length} CPU variants`;
  });
}
