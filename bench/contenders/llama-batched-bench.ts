/** The kernels without a server. */
import { readBatchedBench } from '../kernels/batched-bench-output.ts';
import { cellsPerSequence, type KernelLoad, nBatch, nUbatch } from '../kernels/kernel-load.ts';
import { kernelSample } from '../kernels/kernel-sample.ts';
import type { ClosedLoad, Load } from '../load/load.ts';
import { runProgram } from '../program.ts';
import type { Sample } from '../trial.ts';
import type { Contender, ContenderOptions } from './contender.ts';
import { rivalProgram } from './rival-program.ts';

/** Its figures go through the log's own thread, which the end of the process can cut off. */
const maxAttempts = 4;

export const llamaBatchedBench: Contender = {
  name: 'llama-batched-bench',
  async start(options) {
    return {
      measure: async (load: Load) => {
        if (load.kind === 'closed') return besideStreams(load, options);
        return load.kind === 'kernel' ? repeated(load, options) : undefined;
      },
      stop: async () => undefined,
    };
  },
};

/** As many sequences in one batch as the load has clients. */
async function besideStreams(load: ClosedLoad, { model, nThreads, nCtx }: ContenderOptions): Promise<Sample> {
  const sizes = { '-npl': load.clients, '-npp': load.ownWords + (load.sharedWords ?? 0), '-ntg': load.maxTokens };
  const stdout = await run({ '-m': model, '-t': nThreads, '-c': nCtx, ...sizes }, 1);
  const [prefill, decode] = (['prefill', 'decode'] as const).map((phase) => readBatchedBench(stdout, phase)[0]);
  return {
    tokensPerSecond: (decode?.nTokens ?? 0) / (decode?.seconds ?? 1),
    promptTokensPerSecond: (prefill?.nTokens ?? 0) / (prefill?.seconds ?? 1),
  };
}

/** The same sizes over and over in one process. */
async function repeated(load: KernelLoad, { model, nThreads }: ContenderOptions): Promise<Sample> {
  const { nSequences, nPrompt, nGenerate, nRepeats, phase } = load;
  const times = Array(nRepeats + 1).fill(nSequences);
  const sizes = { '-npl': times.join(','), '-npp': nPrompt, '-ntg': nGenerate, '-c': nSequences * cellsPerSequence };
  const stdout = await run({ '-m': model, '-t': nThreads, '-tb': nThreads, ...sizes }, times.length);
  return kernelSample(readBatchedBench(stdout, phase));
}

async function run(options: Record<string, string | number>, nLines: number): Promise<string> {
  const program = rivalProgram('llama-batched-bench');
  const settings = { ...options, '-b': nBatch, '-ub': nUbatch, '--output-format': 'jsonl' };
  const args = [...Object.entries(settings).flatMap(([name, value]) => [name, String(value)]), '--no-kv-unified'];
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const stdout = await runProgram(program, args);
    if (readBatchedBench(stdout, 'prefill').length === nLines) return stdout;
  }
  throw new Error(`llama-batched-bench printed no figures: ${program} ${args.join(' ')}`);
}
