/** Libraries that stand in for CUDA's and for the driver's where there is neither, as the native tests build them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { gpuLibrary } from '../tree/gpu-tree.ts';

interface StandIn {
  library: string;
  /** A library with the name of the driver's. */
  driver: string;
}

/** `build`: the folder of a preset. Undefined: they are not built. */
export function findStandIn(build: string): StandIn | undefined {
  const [library, driver] = [join(build, 'references/gpu', gpuLibrary), join(build, 'references/driver/libcuda.so.1')];
  return existsSync(library) && existsSync(driver) ? { library, driver } : undefined;
}
