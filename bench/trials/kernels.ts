/** What the engine itself computes in a second, beside llama.cpp's own measure of its kernels, which samples nothing. */
import type { Trial } from '../trial.ts';

/** @param decodeAtLeast of the rival's decode rate; the rest may go into sampling, detokenising and bookkeeping. */
function kernels(nSequences: number, decodeAtLeast: number): Trial {
  const nPrompt = Math.max(128, 512 / nSequences);
  return {
    name: nSequences === 1 ? 'single-stream' : `sequences-${nSequences}`,
    summary: `${nSequences === 1 ? 'one sequence' : `${nSequences} sequences at once`}: tokens a second of prefill and of decoding, without a server`,
    ours: 'svc-engine',
    rival: 'llama-batched-bench',
    phases: {
      prefill: { kind: 'kernel', phase: 'prefill', nSequences, nPrompt, nGenerate: 1, nRepeats: 5 },
      decode: { kind: 'kernel', phase: 'decode', nSequences, nPrompt: 128, nGenerate: 96, nRepeats: 3 },
    },
    goals: [
      { figure: 'prefill.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 0.98 },
      { figure: 'decode.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: decodeAtLeast },
    ],
  };
}

export const kernelTrials: readonly Trial[] = [kernels(1, 0.98), kernels(4, 0.95), kernels(16, 0.9), kernels(32, 0.8)];
