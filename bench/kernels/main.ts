/** Our side, in a process of its own: one job as JSON in its first argument, the timings as JSON on its standard output. */
import { LlamaModel } from '../../ts/server/native/llama.ts';
import { cellsPerSequence, type KernelLoad, type KernelTiming, nBatch, nUbatch } from './kernel-load.ts';
import { timeKernels } from './throughput.ts';

export interface KernelJob {
  /** GGUF file. */
  model: string;
  nThreads: number;
  load: KernelLoad;
  seed: number;
}

const { model: path, load, nThreads, seed } = JSON.parse(process.argv[2] ?? '') as KernelJob;
const model = await LlamaModel.load({ path });
const engine = await model.createEngine({
  nParallel: load.nSequences,
  nCtx: load.nSequences * cellsPerSequence,
  nBatch,
  nUbatch,
  nThreads,
  nThreadsBatch: nThreads,
});
const timings: KernelTiming[] = [];
for (let nth = 0; nth <= load.nRepeats; nth++)
  timings.push(await timeKernels(engine, load, { nVocab: model.info.nVocab, seed: seed * 64 + nth }));
console.log(JSON.stringify(timings));
await engine.close();
await model.close();
