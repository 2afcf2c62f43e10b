/** Our engine through its native door, without a server around it. */
import { join } from 'node:path';
import type { KernelTiming } from '../kernels/kernel-load.ts';
import { kernelSample } from '../kernels/kernel-sample.ts';
import { runProgram } from '../program.ts';
import type { Contender } from './contender.ts';

const program = join(import.meta.dirname, '../kernels/main.ts');

export const svcEngine: Contender = {
  name: 'svc-engine',
  start: async ({ model, nThreads }) => ({
    measure: async (load, seed) => {
      if (load.kind !== 'kernel') return undefined;
      const stdout = await runProgram(process.execPath, [program, JSON.stringify({ model, nThreads, load, seed })]);
      return kernelSample(JSON.parse(stdout) as KernelTiming[]);
    },
    stop: async () => undefined,
  }),
};
