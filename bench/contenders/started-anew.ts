import type { Load } from '../load/load.ts';
import type { Sample } from '../trial.ts';
import type { Contender, ContenderOptions } from './contender.ts';

/** The same server, where starting it is what is measured. */
export function startedAnew(contender: Contender): Contender {
  const name = `${contender.name}-start`;
  return {
    name,
    async start(options) {
      // Untimed: fills the page cache, and has files checked that were never seen.
      await startOnce(contender, options, 0);
      return {
        measure: async (load: Load, seed: number) => (load.kind === 'start' ? startOnce(contender, options, seed) : undefined),
        stop: async () => undefined,
      };
    },
  };
}

async function startOnce(contender: Contender, options: ContenderOptions, seed: number): Promise<Sample> {
  const startedAt = performance.now();
  const running = await contender.start(options);
  const readyMs = performance.now() - startedAt;
  try {
    const first = await running.measure({ kind: 'closed', clients: 1, requestsPerClient: 1, ownWords: 8, maxTokens: 1 }, seed);
    const ttftMs = first?.['ttftP50Ms'] ?? Number.NaN;
    // The client's own start lies between the two and is nobody's loading time.
    return { readyMs, ttftMs, firstTokenMs: readyMs + ttftMs, rssMiB: first?.['serverRssMiB'] ?? Number.NaN };
  } finally {
    await running.stop();
  }
}
