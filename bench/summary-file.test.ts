import { join } from 'node:path';
import t from 'tap';
import { withRival } from './contenders/choose.ts';
import { describeMachine } from './machine.ts';
import type { ResultFile } from './result-file.ts';
import type { Samples } from './runner.ts';
import { suites } from './suites.ts';
import { requireWholeSuite, shapeOf, summarise, writeSummary } from './summary-file.ts';
import type { Goal, Trial } from './trial.ts';
import { judge } from './verdict.ts';

const samples: Samples = {
  ours: [{ 'many.rate': 90 }, { 'many.rate': 91 }, { 'many.rate': 93 }],
  rival: [{ 'many.rate': 70 }, { 'many.rate': 70 }, { 'many.rate': 70 }],
  ceiling: [],
};
const goal: Goal = { figure: 'many.rate', unit: 'x', against: 'rival', atLeast: 1.2 };
const trial: Trial = { name: 'trial', summary: '', rival: 'llama-server', phases: {}, goals: [goal] };
const machine = { ...describeMachine(), commit: '0123456789ab' };
const settings = { nThreads: 2, nRounds: 3, isQuick: false, rivalFlags: [] };
const facts = { suite: 'serving', model: 'model.gguf', modelSha256: 'ab', ...settings, machine };
const run: ResultFile = {
  at: '2026-01-01T00:00:00.000Z',
  ...facts,
  results: [{ trial, verdicts: [judge(goal, samples)], samples, seconds: 12.34 }],
};

t.test('a summary keeps the machine, the goals and what was measured for them, rounded, and no sample', async (t) => {
  const { at } = run;
  const goals = [{ ...goal, ours: 91, rival: 70, reference: 70, ratio: 1.3, ratioLow: 1.2857, ratioHigh: 1.3286, holds: true }];
  t.strictSame(JSON.parse(JSON.stringify(summarise(run))), {
    at,
    ...facts,
    trials: [{ name: 'trial', rival: 'llama-server', seconds: 12, goals }],
  });
});

t.test('a summary goes by the shape of a random model and by the name of any other', async (t) => {
  t.equal(shapeOf('random-llama-mid-f16-7a6bedd43455.gguf'), 'mid');
  t.equal(shapeOf('random-bert-q05-q4_0-0123456789ab.gguf'), 'q05');
  t.equal(shapeOf('svc-chat-tiny.gguf'), 'svc-chat-tiny');
  t.equal(shapeOf('random-thoughts.gguf'), 'random-thoughts');
});

t.test('a result file of some of the trials does not become the summary of the suite', async (t) => {
  const folder = t.testdir({ 'run.json': JSON.stringify(run) });
  t.throws(() => writeSummary(join(folder, 'run.json')), /whole suite: run it with shared-prefix, streams,/);
});

t.test('what a run leaves out unless it is named is not asked of a summary', async (t) => {
  for (const suite of ['vector', 'ingest']) {
    const trials = (suites[suite]?.trials ?? []).filter(({ onlyWhenNamed }) => !onlyWhenNamed);
    t.doesNotThrow(() => requireWholeSuite({ ...facts, suite }, trials), suite);
    t.throws(() => requireWholeSuite({ ...facts, suite }, trials.slice(1)), /whole suite/);
  }
});

t.test('what is measured of ours alone has no rival', async (t) => {
  const alone = (suites['vector']?.trials ?? []).filter(({ summary }) => summary.includes('ours alone'));
  t.strictSame(
    alone.map(({ name, rival }) => [name, rival]),
    [['million', undefined]],
  );
});

t.test('a summary is of whole loads, beside own rivals, and of a commit', async (t) => {
  const trials = suites['serving']?.trials ?? [];
  t.doesNotThrow(() => requireWholeSuite(facts, trials));
  const named = trials.map((each) => withRival(each, 'llama-server'));
  t.doesNotThrow(() => requireWholeSuite(facts, named), 'a name of the rivals that they have anyway');
  t.throws(() => requireWholeSuite({ ...facts, isQuick: true }, trials), /without --quick/);
  t.throws(() => requireWholeSuite({ ...facts, rivalFlags: ['-ub'] }, trials), /without --rival/);
  const beside = trials.map((each): Trial => ({ ...each, rival: 'bare-uws' }));
  t.throws(() => requireWholeSuite(facts, beside), /own rivals/);
  const dirty = { ...machine, commit: '0123456789ab-dirty' };
  t.throws(() => requireWholeSuite({ ...facts, machine: dirty }, trials), /commit or revert/);
});
