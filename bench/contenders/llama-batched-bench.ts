/** The kernels without a server: as many sequences in one batch as the load has clients. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ClosedLoad, Load } from '../load/load.ts';
import type { Sample } from '../trial.ts';
import type { Contender, ContenderOptions } from './contender.ts';
import { rivalProgram } from './rival-program.ts';

/** One line of `--output-format jsonl`: tokens a second of prefill and of decoding. */
interface Line {
  speed_pp: number;
  speed_tg: number;
}

/** Its figures go through the log's own thread, which the end of the process can cut off. */
const maxAttempts = 4;

export const llamaBatchedBench: Contender = {
  name: 'llama-batched-bench',
  async start(options) {
    const program = rivalProgram('llama-batched-bench');
    return {
      measure: async (load: Load) => (load.kind === 'closed' ? run(program, load, options) : undefined),
      stop: async () => undefined,
    };
  },
};

async function run(program: string, load: ClosedLoad, { model, nThreads, nCtx }: ContenderOptions): Promise<Sample> {
  const sizes = { '-npl': load.clients, '-npp': load.ownWords + (load.sharedWords ?? 0), '-ntg': load.maxTokens };
  const settings = { '-m': model, '-t': nThreads, '-c': nCtx, '-b': 2_048, '-ub': 512, ...sizes, '--output-format': 'jsonl' };
  const args = [...Object.entries(settings).flatMap(([name, value]) => [name, String(value)]), '--no-kv-unified'];
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { stdout } = await promisify(execFile)(program, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
    const line = stdout.split('\n').find((text) => text.startsWith('{'));
    if (line === undefined) continue;
    const { speed_pp, speed_tg } = JSON.parse(line) as Line;
    return { tokensPerSecond: speed_tg, promptTokensPerSecond: speed_pp };
  }
  throw new Error(`llama-batched-bench printed no figures: ${program} ${args.join(' ')}`);
}
