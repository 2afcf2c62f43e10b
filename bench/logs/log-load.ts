/** Lines of a network: collected with and without an index beside, and then searched, without a server around it. */
export interface LogLoad {
  kind: 'logs';
  nLines: number;
  /** Lines that go through rsyslog: by itself, and with the index that follows it. */
  nCollected: number;
  /** Searches of each kind. */
  searches: number;
}

export type LogLibrary = 'svc' | 'zstdgrep' | 'fts5' | 'chdb';

/** The job of a library's process. */
export interface LogJob {
  library: LogLibrary;
  /** The folder of the made lines. */
  folder: string;
  load: LogLoad;
  seed: number;
}

/** Lines that searches answer with at most. */
export const LIMIT = 100;
