/** The C and C++ libraries that an image needs, from the system that builds it: an image has nothing beside svc. */
import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { sysroot } from '../../scripts/setup/arm64.mjs';
import type { Flavour } from '../flavour.ts';
import { copyFile } from '../tree/copy-file.ts';
import { layout } from '../tree/layout.ts';
import { isSystemLibrary, neededGlibc, neededLibraries, newestGlibc } from '../tree/needed-libraries.ts';

const interpreters = { x64: 'lib64/ld-linux-x86-64.so.2', arm64: 'lib/ld-linux-aarch64.so.1' };
const tuples = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };
/** Debian packages that the libraries come from, whose licenses go with them. */
const sources = ['libc6', 'libstdc++6', 'libgcc-s1'];

/** Copies them below `root`, into the folders in which Debian's loader looks. */
export async function copySystemLibraries(root: string, { target }: Flavour): Promise<void> {
  const tuple = tuples[target.arch];
  const folder = target.arch === process.arch ? `/lib/${tuple}` : `${sysroot}/lib`;
  if (!existsSync(folder)) throw new Error(`${folder} is not there: an image takes its C library from Debian`);
  const compiled = globSync(`${layout.program}/**/*.{node,so,so.*}`, { cwd: root }).map((file) => join(root, file));
  const wanted = new Set<string>();
  const add = async (file: string): Promise<void> => {
    for (const name of (await neededLibraries(file)).filter(isSystemLibrary)) {
      if (wanted.has(name)) continue;
      wanted.add(name);
      await add(join(folder, name));
    }
  };
  for (const file of [join(root, layout.node), ...compiled]) {
    await refuseNewerNeed(file, root, folder);
    await add(file);
  }
  const loader = interpreters[target.arch];
  copyFile(realpathSync(join(folder, basename(loader))), join(root, loader), 0o755);
  for (const name of wanted)
    if (name !== basename(loader)) copyFile(realpathSync(join(folder, name)), join(root, 'lib', tuple, name), 0o755);
  for (const source of sources) {
    const license = `/usr/share/doc/${source}/copyright`;
    if (existsSync(license)) copyFile(license, join(root, layout.licenses, source, 'copyright'));
  }
}

/** Throws where an image would hold a program that the C library of `folder` cannot load. */
export async function refuseNewerNeed(file: string, root: string, folder: string): Promise<void> {
  const needed = await neededGlibc(file);
  const versions = readFileSync(join(folder, 'libc.so.6'), 'latin1').matchAll(/\bGLIBC_(\d+\.\d+)\0/g);
  const there = newestGlibc([...versions].map(([, version]) => version ?? ''));
  if (needed === undefined || newestGlibc([needed, there ?? '']) === there) return;
  throw new Error(
    `an image would not start: ${relative(root, file)} needs version ${needed} of the C library, and that of ${folder} is ${there}. ` +
      'Make it on a system with a newer one, or make a package (npm run package -- rpm).',
  );
}
