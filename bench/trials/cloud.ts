/** Trials of what this server adds to a provider's answers, beside a bare proxy that parses and writes each frame again, and beside LiteLLM. */
import type { CloudRequests, CloudStreams } from '../cloud/cloud-load.ts';
import type { Goal, Trial } from '../trial.ts';

const requests: CloudRequests = { kind: 'cloud-requests', perSecond: 200, seconds: 15, directEvery: 5 };
const streams: CloudStreams = { kind: 'cloud-streams', streams: 1_000, openPerSecond: 200, seconds: 10 };

const goals: readonly Goal[] = [
  { figure: 'requests.addedFirstP50Ms', unit: 'ms', atMost: 2 },
  { figure: 'requests.addedFirstP99Ms', unit: 'ms', against: 'rival', atMost: 2 },
  { figure: 'requests.addedFrameP50Ms', unit: 'ms', atMost: 2 },
  { figure: 'requests.addedFrameP99Ms', unit: 'ms', against: 'rival', atMost: 2 },
  { figure: 'requests.cpuMicrosPerFrame', unit: 'us', against: 'rival', atMost: 2 },
  { figure: 'streams.rssGrowthMiB', unit: 'MiB', atMost: 60 },
];

export const cloudTrials: readonly Trial[] = [
  {
    name: 'proxy',
    summary: '200 requests a second of ten frames each, then 1,000 slow streams, beside a bare uWebSockets.js proxy',
    ours: 'svc-cloud',
    rival: 'bare-proxy',
    fresh: 'phase',
    phases: { requests, streams },
    goals,
  },
  {
    name: 'litellm',
    summary: 'the same beside LiteLLM’s proxy from PyPI, with its memory, where it can be had: informs, has no goal',
    ours: 'svc-cloud',
    rival: 'litellm',
    fresh: 'phase',
    phases: {
      requests: { ...requests, forRival: { perSecond: 50 } },
      streams: { ...streams, streams: 200 },
    },
    goals: [
      { figure: 'requests.addedFirstP50Ms', unit: 'ms', against: 'rival' },
      { figure: 'requests.addedFirstP99Ms', unit: 'ms', against: 'rival' },
      { figure: 'requests.cpuMicrosPerFrame', unit: 'us', against: 'rival' },
      { figure: 'requests.rssMiB', unit: 'MiB', against: 'rival' },
      { figure: 'streams.rssGrowthMiB', unit: 'MiB', against: 'rival' },
    ],
  },
];
