import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Load } from '../load/load.ts';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import type { Contender, ContenderOptions } from './contender.ts';

/** The same server, where starting it is what is measured. `command`: the program's words, where the time of its `version` is a figure too. */
export function startedAnew(contender: Contender, command?: () => Promise<readonly string[]>): Contender {
  const name = `${contender.name}-start`;
  async function measure(again: ContenderOptions, anew: ContenderOptions, seed: number): Promise<Sample> {
    const sample = await startOnce(contender, again, seed);
    const { firstTokenMs = Number.NaN } = await startOnce(contender, anew, seed);
    return { ...sample, emptyFirstTokenMs: firstTokenMs, ...(command && (await askVersion(command))) };
  }
  return {
    name,
    async start(options) {
      const dataFolder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
      const again = { ...options, dataFolder };
      // Untimed: fills the page cache, makes the database, and has files checked that were never seen.
      await startOnce(contender, again, 0);
      return {
        measure: async (load: Load, seed: number) => (load.kind === 'start' ? await measure(again, options, seed) : undefined),
        stop: async () => rmSync(dataFolder, { recursive: true, force: true }),
      };
    },
  };
}

async function askVersion(command: () => Promise<readonly string[]>): Promise<Sample> {
  const [program = '', ...args] = await command();
  const times: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    const startedAt = performance.now();
    await runProgram(program, [...args, 'version']);
    times.push(performance.now() - startedAt);
  }
  return { versionMs: times.sort((a, b) => a - b)[2] ?? Number.NaN };
}

async function startOnce(contender: Contender, options: ContenderOptions, seed: number): Promise<Sample> {
  const startedAt = performance.now();
  const running = await contender.start(options);
  const readyMs = performance.now() - startedAt;
  try {
    const first = await running.measure({ kind: 'closed', clients: 1, requestsPerClient: 1, ownWords: 8, maxTokens: 1 }, seed);
    const ttftMs = first?.['ttftP50Ms'] ?? Number.NaN;
    // The client's own start lies between the two and is nobody's loading time.
    const httpMs = running.httpMs ?? Number.NaN;
    return { httpMs, readyMs, ttftMs, firstTokenMs: readyMs + ttftMs, rssMiB: first?.['serverRssMiB'] ?? Number.NaN };
  } finally {
    await running.stop();
  }
}
