import t from 'tap';
import type { Trial } from '../trial.ts';
import { besideBefore, chooseContenders, withRival } from './choose.ts';

const trial: Trial = { name: 'trial', summary: '', rival: 'llama-server', phases: {}, goals: [] };
const names = (chosen: Trial) => Object.entries(chooseContenders(chosen)).map(([side, { name }]) => `${side} ${name}`);

t.test('a trial runs svc, then its rival, then its ceiling', async (t) => {
  t.strictSame(names(trial), ['ours svc', 'rival llama-server']);
  const bounded: Trial = { ...trial, ours: 'svc-engine', ceiling: 'llama-batched-bench' };
  t.strictSame(names(bounded), ['ours svc-engine', 'rival llama-server', 'ceiling llama-batched-bench']);
});

t.test('--rival llama-server is the router where the trial names the router', async (t) => {
  t.equal(withRival({ ...trial, rival: 'llama-router' }, 'llama-server').rival, 'llama-router');
  t.equal(withRival({ ...trial, rival: 'llama-server-start' }, 'llama-server').rival, 'llama-server-start');
});

t.test('--rival puts another into the rival’s place', async (t) => {
  t.equal(withRival({ ...trial, rival: 'bare-uws' }, 'llama-server').rival, 'llama-server');
  t.equal(withRival(trial, 'llama-router').rival, 'llama-router');
  t.throws(() => withRival(trial, 'vllm'), /--rival vllm: give none or one of svc/);
});

t.test('--rival none leaves the rival out and keeps the ceiling', async (t) => {
  const chosen = withRival({ ...trial, ceiling: 'llama-batched-bench' }, 'none');
  t.notOk('rival' in chosen);
  t.strictSame(names(chosen), ['ours svc', 'ceiling llama-batched-bench']);
});

t.test('--before puts another checkout into the rival’s place: the same load, and every bounded figure against it', async (t) => {
  const chat = { kind: 'closed', clients: 1, requestsPerClient: 1, ownWords: 1, maxTokens: 1 } as const;
  const chosen = besideBefore({
    ...trial,
    ceiling: 'llama-batched-bench',
    phases: { one: { ...chat, forRival: { clients: 9 } } },
    goals: [
      { figure: 'one.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 1 },
      { figure: 'one.tokensPerSecond', unit: 'tok/s', against: 'ceiling', atLeast: 0.9 },
      { figure: 'one.ttftP50Ms', unit: 'ms', against: { baseline: 'one.other' }, atMost: 3 },
      { figure: 'one.informs', unit: 'ms', against: 'rival' },
    ],
  });
  t.strictSame(names(chosen), ['ours svc', 'rival svc-before']);
  t.strictSame(chosen.phases, { one: chat });
  t.strictSame(chosen.goals, [
    { figure: 'one.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 0.98 },
    { figure: 'one.ttftP50Ms', unit: 'ms', against: 'rival', atMost: 1.02 },
  ]);
  t.strictSame(names(besideBefore({ ...trial, ours: 'svc-engine' })), ['ours svc-engine', 'rival svc-engine-before']);
  t.throws(() => besideBefore({ ...trial, ours: 'svc-vectors' }), /svc-vectors, which is not compared/);
});
