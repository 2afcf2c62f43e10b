/** Trials of devices: what a node takes for many of them, beside a bare client, and what they leave of a chat. */
import type { Trial } from '../trial.ts';

const goals: Trial['goals'] = [
  { figure: 'devices.cpuMsPerSecond', unit: 'ms/s', against: 'rival', atMost: 2 },
  { figure: 'devices.besideItlP99Ms', unit: 'ms', against: { baseline: 'devices.idleItlP99Ms' }, atMost: 1.5 },
  { figure: 'devices.readingsPerSecond', unit: '/s' },
  { figure: 'devices.rssMiB', unit: 'MiB' },
];

export const iotTrials: readonly Trial[] = [
  {
    name: 'devices',
    summary:
      '1,000 devices behind a broker, each of which tells 10 variables a second: CPU beside a bare client that keeps the last values, and a chat stream beside them',
    ours: 'svc-devices',
    rival: 'bare-devices',
    fresh: 'round',
    phases: { devices: { kind: 'devices', devices: 1_000, variables: 10, seconds: 20, tokens: 200 } },
    goals,
  },
];
