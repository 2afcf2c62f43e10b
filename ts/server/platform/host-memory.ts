import { totalmem } from 'node:os';

/** Bytes of main memory that this process may have. A container may have less than the machine; Node gives 0 or a huge number where nothing is limited. */
export function hostMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
