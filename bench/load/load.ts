/** The shapes of load that a trial can name. */
export type Load = WrkLoad | ChatLoad;

/** One request over and over, as fast as the server answers, sent by wrk. */
export interface WrkLoad {
  kind: 'wrk';
  path: string;
  connections: number;
  seconds: number;
  /** JSON body; present means POST. */
  body?: string;
  /** Path asked of the rival, where it names the same thing differently. */
  rivalPath?: string;
}

/** Streamed chat completions in a closed loop: each client sends its next request when the last one ended. */
export interface ChatLoad {
  kind: 'chat';
  clients: number;
  requestsPerClient: number;
  /** Words of prompt that all requests share, and words of each one's own; one word is about one to two tokens. */
  sharedWords: number;
  ownWords: number;
  maxTokens: number;
}
