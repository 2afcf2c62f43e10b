/**
 * Lays out what svc-cuda adds to an installed svc: ggml's backend library, those of the CUDA toolkit that it needs, and the drop-in that opens the
 * GPU's device files to the service. The driver alone is left to the machine.
 */
import { existsSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { copyFile } from './copy-file.ts';
import { placeIn } from './layout.ts';
import { isDriverLibrary, isOwnLibrary, isSystemLibrary, neededLibraries } from './needed-libraries.ts';

export const gpuLibrary = 'libggml-cuda.so';

interface GpuTreeOptions {
  /** The checkout. */
  source: string;
  /** Emptied first. */
  destination: string;
  /** The backend library. */
  library: string;
  /** Where the toolkit's libraries lie, and the texts of their licenses. */
  toolkit: string;
  licenses: readonly string[];
}

export async function writeGpuTree({ source, destination, library, toolkit, licenses }: GpuTreeOptions): Promise<void> {
  rmSync(destination, { recursive: true, force: true });
  copyFile(library, placeIn(destination, 'native', gpuLibrary), 0o755);
  await copyNeeded(library, toolkit, destination);
  for (const unit of ['svc.service', 'svc@.service'])
    copyFile(join(source, 'packaging/system/gpu.conf'), placeIn(destination, 'units', `${unit}.d`, 'gpu.conf'));
  copyFile(join(source, 'LICENSE'), placeIn(destination, 'gpuLicenses', 'LICENSE'));
  for (const license of licenses) copyFile(license, placeIn(destination, 'gpuLicenses', licenseName(license)));
}

/** Debian gives each package's text the same name. */
const licenseName = (path: string) => `cuda-${basename(dirname(path))}-${basename(path)}`;

/** Libraries of the toolkit lie beside the one that needs them, which looks there first. */
async function copyNeeded(file: string, toolkit: string, destination: string): Promise<void> {
  const names = await neededLibraries(file);
  for (const name of names.filter((each) => !isSystemLibrary(each) && !isOwnLibrary(each) && !isDriverLibrary(each))) {
    const from = join(toolkit, name);
    const to = placeIn(destination, 'native', name);
    if (existsSync(to)) continue;
    if (!existsSync(from))
      throw new Error(`${file} needs ${name}, which is not in ${toolkit}: name the toolkit's folder of libraries`);
    copyFile(from, to, 0o755);
    await copyNeeded(from, toolkit, destination);
  }
}
