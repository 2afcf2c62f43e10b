import t from 'tap';
import { describeMachine } from './machine.ts';
import { type ResultFile, shapeOf, summarise } from './result-file.ts';
import type { Samples } from './runner.ts';
import type { Goal, Trial } from './trial.ts';
import { judge } from './verdict.ts';

const samples: Samples = {
  ours: [{ 'many.rate': 90 }, { 'many.rate': 91 }, { 'many.rate': 93 }],
  rival: [{ 'many.rate': 70 }, { 'many.rate': 70 }, { 'many.rate': 70 }],
  ceiling: [],
};
const goal: Goal = { figure: 'many.rate', unit: 'x', against: 'rival', atLeast: 1.2 };
const trial: Trial = { name: 'trial', summary: '', rival: 'llama-server', phases: {}, goals: [goal] };
const facts = { suite: 'serving', model: 'model.gguf', modelSha256: 'ab', nThreads: 2, nRounds: 3, rivalFlags: [] };
const machine = describeMachine();
const run: ResultFile = {
  at: '2026-01-01T00:00:00.000Z',
  ...facts,
  machine,
  results: [{ trial, verdicts: [judge(goal, samples)], samples, seconds: 12.34 }],
};

t.test('a summary keeps the machine, the goals and what was measured for them, rounded, and no sample', async (t) => {
  const { at } = run;
  const goals = [{ ...goal, ours: 91, rival: 70, reference: 70, ratio: 1.3, ratioLow: 1.2857, ratioHigh: 1.3286, holds: true }];
  t.strictSame(JSON.parse(JSON.stringify(summarise(run))), {
    at,
    ...facts,
    machine,
    trials: [{ name: 'trial', seconds: 12, goals }],
  });
});

t.test('a summary goes by the shape of a random model and by the name of any other', async (t) => {
  t.equal(shapeOf('random-llama-mid-f16-7a6bedd43455.gguf'), 'mid');
  t.equal(shapeOf('random-bert-q05-q4_0-0123456789ab.gguf'), 'q05');
  t.equal(shapeOf('svc-chat-tiny.gguf'), 'svc-chat-tiny');
  t.equal(shapeOf('random-thoughts.gguf'), 'random-thoughts');
});
