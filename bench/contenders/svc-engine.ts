/** Our engine through its native door, without a server around it. */
import { join } from 'node:path';
import type { KernelTiming } from '../kernels/kernel-load.ts';
import { kernelSample } from '../kernels/kernel-sample.ts';
import { runProgram } from '../program.ts';
import type { Contender, ContenderOptions } from './contender.ts';
import { fileBefore } from './file-before.ts';

const program = 'bench/kernels/main.ts';

export const svcEngine = engine('svc-engine', () => join(import.meta.dirname, '../..', program));

/** That of the checkout that `--before` names. */
export const svcEngineBefore = engine('svc-engine-before', (options) => fileBefore(options, program));

function engine(name: string, findProgram: (options: ContenderOptions) => string): Contender {
  return {
    name,
    start: async (options) => {
      const { model, nThreads } = options;
      const file = findProgram(options);
      return {
        measure: async (load, seed) => {
          if (load.kind !== 'kernel') return undefined;
          const stdout = await runProgram(process.execPath, [file, JSON.stringify({ model, nThreads, load, seed })]);
          return kernelSample(JSON.parse(stdout) as KernelTiming[]);
        },
        stop: async () => undefined,
      };
    },
  };
}
