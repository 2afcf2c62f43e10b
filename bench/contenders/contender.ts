import type { Load } from '../load/load.ts';
import type { Sample } from '../trial.ts';

/** What can be measured: ours, a rival, or a bound. */
export interface Contender {
  name: string;
  /** Throws one line with the remedy when the program is missing on this machine. */
  start(options: ContenderOptions): Promise<RunningContender>;
}

export interface RunningContender {
  /** From the start of the process until it answered HTTP with anything; undefined for what speaks none. */
  readonly httpMs?: number;
  /** Before anything is measured: a server that has just started compiles its own code and touches its memory for the first time. */
  warmUp?(): Promise<unknown>;
  /** Runs one load. Undefined when this contender has no such thing (a bound has no queue, for example). */
  measure(load: Load, seed: number): Promise<Sample | undefined>;
  stop(): Promise<unknown>;
}

/** The same for every contender, so that the comparison is of servers and not of settings. */
export interface ContenderOptions extends ServerSettings {
  /** GGUF file. */
  model: string;
  /** What an earlier start left, and later ones find; whoever names it removes it. Absent: a new one for each start. Ours alone. */
  dataFolder?: string;
  /** Folder of the checkout that `svc-before` and `svc-engine-before` run. */
  before?: string;
}

export interface ServerSettings {
  nThreads: number;
  /** Sequences that decode at once. */
  nParallel: number;
  /** KV cells for all sequences together. */
  nCtx: number;
  /** One KV buffer for all sequences or one for each; each server's own choice unless told. */
  kvUnified?: boolean;
  /** Requests that may wait before they are refused; ours alone, as no rival bounds its queue. */
  maxQueuedJobs?: number;
  /** Longest wait before requests are refused, by the measured rate, seconds; ours alone; 0 for no limit. */
  maxQueueSeconds?: number;
  /** Open connections; ours alone, as no rival has a limit of that kind. */
  maxConnections?: number;
  /** API keys name tenants; ours alone, as no rival has tenants. */
  hasTenants?: boolean;
  /** Other files served beside the model, by their names; for ours and for the router. */
  models?: Readonly<Record<string, string>>;
  /** Models held in memory at once. */
  maxLoadedModels?: number;
  /** Flags that make the rival faster in this trial, chosen by trying; see bench/README.md. */
  rivalFlags?: readonly string[];
}
