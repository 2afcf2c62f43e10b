/** Answers of a provider through a proxy. The provider is the same program on all sides, and writes into each frame when it sent it. */
export type CloudLoad = CloudRequests | CloudStreams;

/** Requests at a fixed rate, through the proxy and, one in so many, straight to the provider. */
export interface CloudRequests {
  kind: 'cloud-requests';
  perSecond: number;
  seconds: number;
  directEvery: number;
}

/** Open streams, each with a frame now and then, and what they cost in memory. */
export interface CloudStreams {
  kind: 'cloud-streams';
  streams: number;
  openPerSecond: number;
  seconds: number;
}

export interface CloudJob {
  /** The provider lies behind the proxy. */
  proxyUrl: string;
  providerUrl: string;
  proxyPid: number;
  load: CloudLoad;
  seed: number;
}

/** Models of the provider, by how it answers. */
export const ANSWERS: Readonly<Record<string, { nFrames: number; everyMs: number }>> = {
  'bench-short': { nFrames: 10, everyMs: 5 },
  'bench-slow': { nFrames: 10_000, everyMs: 2_000 },
};
