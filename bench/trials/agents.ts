/** Trials of tools: what a round of an instant tool adds to a chat, and a call over MCP beside the bare library. */
import type { Trial } from '../trial.ts';

export const agentTrials: readonly Trial[] = [
  {
    name: 'round',
    summary:
      'what a round with an instant tool adds to a chat, beside the model’s own time for it: approvals, audit and metering are in it',
    ours: 'svc-agents',
    phases: { rounds: { kind: 'tool-rounds', chats: 400 } },
    goals: [
      { figure: 'rounds.addedP50Ms', unit: 'ms', atMost: 5 },
      { figure: 'rounds.plainP50Ms', unit: 'ms' },
    ],
  },
  {
    name: 'mcp',
    summary: 'a call of a tool over /mcp, beside a bare server of the MCP library that asks nobody and writes nothing down',
    ours: 'svc-agents',
    rival: 'bare-mcp',
    phases: { calls: { kind: 'mcp-calls', calls: 800 } },
    goals: [{ figure: 'calls.p50Ms', unit: 'ms', against: 'rival', atMost: 1.5 }],
  },
  {
    name: 'steps',
    summary:
      'durable steps a second of goals whose model answers at once, beside workflows of DBOS whose steps do nothing, on a PostgreSQL of the same kind; ' +
      'SVC_BENCH_DBOS names the folder in whose node_modules @dbos-inc/dbos-sdk lies',
    ours: 'svc-goals',
    rival: 'dbos',
    onlyWhenNamed: true,
    fresh: 'round',
    phases: { goals: { kind: 'durable-steps', goals: 20, steps: 10 } },
    goals: [{ figure: 'goals.stepsPerSecond', unit: 'steps/s', against: 'rival', atLeast: 0.8 }],
  },
];
