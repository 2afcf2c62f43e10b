/** Two ways to add files: ours, and the usual one. */
export interface Adding {
  /** Adds what is not there yet, until all is or `signal` aborts; the number of files that were there before. */
  run(signal: AbortSignal): Promise<number>;
  /** Files that can be found. */
  count(): Promise<number>;
  search(question: string): Promise<void>;
  /** CPU seconds of this client so far. */
  cpuSeconds(): number;
}
