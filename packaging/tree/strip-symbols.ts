/** Takes the names of a package's own functions out of its programs and libraries: only a debugger reads them. */
import { globSync } from 'node:fs';
import type { Flavour } from '../flavour.ts';
import { runTool } from '../run-tool.ts';
import { type Place, placeIn } from './layout.ts';

/** Every compiled file of a tree that is laid out. */
export async function stripSymbols(destination: string, { target }: Flavour): Promise<void> {
  const isHere = target.arch === process.arch;
  const [tool, debianPackage] = isHere ? ['strip', 'binutils'] : ['aarch64-linux-gnu-strip', 'binutils-aarch64-linux-gnu'];
  const below = (place: Place, pattern: string) =>
    globSync(pattern, { cwd: placeIn(destination, place) }).map((file) => placeIn(destination, place, file));
  const libraries = [...below('native', '*'), ...below('packages', '**/*.node')];
  // What is looked up when a library is loaded stays.
  await runTool(tool, ['--strip-unneeded', ...libraries], { debianPackage });
  await runTool(tool, ['--strip-all', placeIn(destination, 'node')], { debianPackage });
}
