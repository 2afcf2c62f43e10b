/** Files that are added to a knowledge base while it is asked, half of them, then after a pause the rest. */
export interface IngestLoad {
  kind: 'ingest';
  nFiles: number;
  /** Sizes are spread evenly over their orders of magnitude, KiB. */
  leastKib: number;
  mostKib: number;
  /** How long chats and searches run alone, in the pause. */
  idleSeconds: number;
}

/** Arrivals of the probes, whatever the server answers. */
export const SEARCHES_PER_SECOND = 5;
export const CHATS_PER_SECOND = 1;

/** What the client's process is told. */
export interface IngestJob {
  side: 'svc' | 'by-hand';
  url: string;
  serverPid: number;
  load: IngestLoad;
  seed: number;
}
