/** One body of each kind that nodes send to each other, as recorded in `recorded-bodies.json` in each wire version. */
import type { EmbedResult } from '../../../../native/llama-shapes.ts';
import type { NodeEntry } from '../../node-store.ts';
import type { Told } from '../../protocol/node-cycle.ts';
import type { NodeReport, ReportedCard } from '../work.ts';

interface FrameSamples {
  report: NodeReport;
  told: Told;
  entries: NodeEntry[];
  vectors: EmbedResult;
  file: { path: string; bytes: Buffer };
}

export function samples(): FrameSamples {
  const told: Told = {
    id: '0b5e7f2a-1c1f-4b5e-9d53-5f2f1d0c7a11',
    name: 'höhle-1',
    address: '10.0.0.5:8881',
    version: '5.0.177',
    wire: 2,
    roles: '["controller","inference"]',
    modules: '["system","data"]',
    models: '["tiny-chat","tiny-embed"]',
    load: '{"cpu":0.25,"memory_free_bytes":12345678901}',
    draining: 1,
    ended: 0,
    heartbeat_ms: 30_000,
    boot: 'a8098c1a-f86e-11da-bd1a-00112444be1e',
  };
  const card = { id: 'tiny-chat', kind: 'chat', family: 'llama', createdAt: 1, ownedBy: 'svc', state: 'ready', costs: [1, 2] };
  return {
    told,
    entries: [
      { ...told, seenMsAgo: 1500 },
      { ...told, id: 'b2', roles: '[]', models: '[]', draining: 0, ended: 1, seenMsAgo: 0 },
    ],
    report: {
      id: told.id,
      cards: [card as unknown as ReportedCard],
      load: { nRunning: 3, nQueuedTokens: 70_000, tokensPerSecond: 812.5 },
      prefixes: Int32Array.of(1, -2, 2 ** 31 - 1),
      primary: { commit: 12, epoch: 3, promotions: 1 },
      replica: { id: 'A1', commit: 11, syncedAt: 1_790_000_000_000, primaryCommit: 12, roles: ['data'] },
    },
    vectors: { vectors: [Float32Array.of(0.5, -0.25, 1), Float32Array.of(1, 0, 0)], nTokens: [2, 7], truncated: [1] },
    file: { path: `chunks/ab/${'ab'.repeat(32)}`, bytes: Buffer.from('bytes of a chunk') },
  };
}
