/** Throughput of the engine itself, ours through the native door and llama-batched-bench's: no HTTP, prompts as token ids. */
export interface KernelLoad {
  kind: 'kernel';
  /** Prefill: whole prompts of all sequences at once. Decode: a token a step for each sequence, from the prompt's end on. */
  phase: 'prefill' | 'decode';
  nSequences: number;
  /** Tokens of each sequence's prompt. */
  nPrompt: number;
  /** Tokens that each sequence generates; for prefill 1, the one that the prompt's last logits give. */
  nGenerate: number;
  /** Measurements in one process, after one that is thrown away (new threads find their cores); the sample has their median. */
  nRepeats: number;
}

/** One measurement of one phase. */
export interface KernelTiming {
  nTokens: number;
  seconds: number;
}

/** KV cells of each sequence; a multiple of llama.cpp's padding, so that both sides get exactly this. */
export const cellsPerSequence = 1_024;

/** llama.cpp's own defaults, named so that both sides are given them. */
export const nBatch = 2_048;
export const nUbatch = 512;
