import t from 'tap';
import { summarise } from './summary.ts';

const machine = { cpu: 'x', nCores: 2, memoryBytes: 1, gpus: [], preset: 'cpu', kernel: 'k', node: 'v22', commit: 'abc' };

t.test('a summary has each figure with its goal and whether that holds', async (t) => {
  const figures = [
    { name: 'weight', unit: 'KB', ours: 81.123456, rival: 200, atMost: 120 },
    { name: 'frames', unit: 'ms', ours: 5, rival: undefined, atMost: 4 },
    { name: 'requests', unit: 'n', ours: 9, rival: undefined },
  ];
  const summary = summarise({ at: '2026-01-01T00:00:00Z', model: 'tiny.gguf', nRounds: 3, machine, figures });
  t.match(summary, { suite: 'web', nRounds: 3, machine: { commit: 'abc' } });
  t.strictSame(JSON.parse(JSON.stringify(summary.figures)), [
    { name: 'weight', unit: 'KB', ours: 81.1235, rival: 200, atMost: 120, holds: true },
    { name: 'frames', unit: 'ms', ours: 5, atMost: 4, holds: false },
    { name: 'requests', unit: 'n', ours: 9 },
  ]);
});
