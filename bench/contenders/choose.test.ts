import t from 'tap';
import type { Trial } from '../trial.ts';
import { chooseContenders, withRival } from './choose.ts';

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
