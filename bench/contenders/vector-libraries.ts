/** Libraries that search vectors, each in a process of its own. */
import { join } from 'node:path';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import { installRivals } from '../vectors/install-rivals.ts';
import { codedLibraries, rivalLibraries } from '../vectors/libraries/libraries.ts';
import { madeSet } from '../vectors/made-sets.ts';
import { LEAST_RECALL, type VectorJob, type VectorLoad } from '../vectors/vector-load.ts';
import type { Contender } from './contender.ts';

const program = join(import.meta.dirname, '../vectors/main.ts');

export const svcVectors: Contender = {
  name: 'svc-vectors',
  start: async () => ({
    measure: async (load, seed) => (load.kind === 'vectors' ? await oursWith(load, seed) : undefined),
    stop: async () => undefined,
  }),
};

/** Of each figure the best of all rivals, as a strict user would choose for each purpose; and each rival's own beside it. */
export const vectorRivals: Contender = {
  name: 'vector-rivals',
  async start() {
    await installRivals();
    return {
      measure: async (load, seed) => (load.kind === 'vectors' ? await bestOf(load, seed) : undefined),
      stop: async () => undefined,
    };
  },
};

/** Figures of indexes of codes stand behind their names. */
async function oursWith(load: VectorLoad, seed: number): Promise<Sample> {
  const sample = await run('svc', load, seed);
  for (const library of codedLibraries)
    for (const [figure, value] of Object.entries(await run(library, load, seed))) sample[`${library}.${figure}`] = value;
  return sample;
}

async function bestOf(load: VectorLoad, seed: number): Promise<Sample> {
  const best: Sample = {};
  for (const library of rivalLibraries) {
    const sample = await run(library, load, seed);
    for (const [figure, value] of Object.entries(sample)) {
      best[`${library}.${figure}`] = value;
      if (figure.endsWith('ueriesPerSecond') && (sample[recallBeside(figure)] ?? 0) >= LEAST_RECALL)
        best[figure] = Math.max(best[figure] ?? 0, value);
      if (figure === 'addedPerSecond') best[figure] = Math.max(best[figure] ?? 0, value);
    }
  }
  return best;
}

/** `filter10QueriesPerSecond` counts where `filter10RecallAt10` is enough. */
function recallBeside(figure: string): string {
  return figure.replace(/queriesPerSecond$/, 'recallAt10').replace(/QueriesPerSecond$/, 'RecallAt10');
}

async function run(library: string, load: VectorLoad, seed: number): Promise<Sample> {
  const job: VectorJob = { library, folder: await madeSet(load, seed), load, seed };
  return JSON.parse(await runProgram(process.execPath, ['--expose-gc', program, JSON.stringify(job)])) as Sample;
}
