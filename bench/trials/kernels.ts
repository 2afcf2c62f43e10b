/** What the engine itself computes in a second, beside llama.cpp's own measure of its kernels, which samples nothing. */
import type { Trial } from '../trial.ts';

function kernels(nSequences: number): Trial {
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
      { figure: 'decode.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 0.98 },
    ],
  };
}

export const kernelTrials: readonly Trial[] = [1, 4, 16, 32].map(kernels);
