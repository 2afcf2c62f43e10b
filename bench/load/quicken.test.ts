import t from 'tap';
import { suites } from '../suites.ts';
import type { Phase, Trial } from '../trial.ts';
import { idleStreams } from '../trials/serving/connections.ts';
import { quicken } from './quicken.ts';

const chat: Phase = { kind: 'closed', clients: 4, requestsPerClient: 3, ownWords: 8, maxTokens: 192 };
const trial: Trial = { name: 'trial', summary: '', rival: 'llama-server', fresh: 'round', phases: { chat }, goals: [] };

t.test('a quick trial is the same trial with smaller loads', async (t) => {
  const { phases, ...rest } = quicken(trial);
  t.match(rest, { name: 'trial', rival: 'llama-server', fresh: 'round' });
  t.strictSame(phases, { chat: { ...chat, requestsPerClient: 1, maxTokens: 64 } });
});

t.test('idle streams are fewer and settle as long, for headers come when they come', async (t) => {
  const { phases } = quicken(idleStreams);
  t.match(phases['open'], { idle: 500, settleSeconds: 6, seconds: 1, forRival: { idle: 500, settleSeconds: 1 } });
});

t.test('no load of any suite grows', async (t) => {
  const sizes = [
    'seconds',
    'requests',
    'requestsPerClient',
    'maxTokens',
    'turns',
    'aborts',
    'idle',
    'tokens',
    'nTexts',
    'nPrompt',
    'nRepeats',
  ];
  for (const { name, phases } of Object.values(suites).flatMap(({ trials }) => trials)) {
    const quick = quicken({ ...trial, phases }).phases;
    for (const [phase, load] of Object.entries(phases)) {
      const before = load as unknown as Record<string, number>;
      const after = quick[phase] as unknown as Record<string, number>;
      const grown = sizes.filter((size) => (after[size] ?? 0) > (before[size] ?? 0));
      t.strictSame(grown, [], `${name}, ${phase}`);
    }
  }
});
