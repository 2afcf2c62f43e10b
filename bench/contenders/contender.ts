import type { ChildServer } from '../../test/child-server.ts';

/** A server that the bench can start: ours or a rival. */
export interface Contender {
  name: string;
  /** Throws one line with the remedy when the program is missing on this machine. */
  start(options: ContenderOptions): Promise<ChildServer>;
}

/** The same for every contender, so that the comparison is of servers and not of settings. */
export interface ContenderOptions {
  /** GGUF file. */
  model: string;
  nThreads: number;
  /** Sequences that decode at once. */
  nParallel: number;
  /** KV cells for all sequences together. */
  nCtx: number;
}
