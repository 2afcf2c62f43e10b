import t from 'tap';
import { at } from './client/summary.ts';
import { summaryLines, tally } from './report.ts';
import type { Samples } from './runner.ts';
import { judge } from './verdict.ts';

const samples: Samples = {
  ours: [
    { 'many.rate': 90, 'alone.rate': 100 },
    { 'many.rate': 95, 'alone.rate': 100 },
    { 'many.rate': 80, 'alone.rate': 100 },
  ],
  rival: [
    { 'many.rate': 45, 'alone.rate': 90 },
    { 'many.rate': 50, 'alone.rate': 100 },
    { 'many.rate': 40, 'alone.rate': 80 },
  ],
  ceiling: [{ 'many.rate': 100 }, { 'many.rate': 100 }, { 'many.rate': 100 }],
};
const goal = { figure: 'many.rate', unit: 'x' };

t.test('against the rival: the median of the rounds’ ratios, with their extremes', async (t) => {
  const verdict = judge({ ...goal, against: 'rival', atLeast: 1.95 }, samples);
  t.match(verdict, { ours: 90, rival: 45, ratio: 2, ratioLow: 1.9, ratioHigh: 2, holds: true });
});

t.test('against ours without the disturbance: the rival’s own ratio stands beside it', async (t) => {
  const verdict = judge({ ...goal, against: { baseline: 'alone.rate' }, atLeast: 0.95 }, samples);
  t.match(verdict, { reference: 100, ratio: 0.9, rivalRatio: 0.5, holds: false });
});

t.test('against the ceiling: both shares', async (t) => {
  t.match(judge({ ...goal, against: 'ceiling', atLeast: 0.8 }, samples), { ratio: 0.9, rivalRatio: 0.45, holds: true });
});

t.test('our figure itself', async (t) => {
  t.match(judge({ ...goal, atMost: 90 }, samples), { ours: 90, holds: true });
});

t.test('a figure that was not measured neither holds nor misses', async (t) => {
  const verdict = judge({ ...goal, against: 'rival', atLeast: 1 }, { ...samples, rival: [] });
  t.equal(verdict.holds, undefined);
  t.equal(verdict.ratio, undefined);
});

t.test('a goal without a figure is told apart from one that was missed', async (t) => {
  const goals = [{ ...goal, atMost: 90 }, { ...goal, atMost: 80 }, { ...goal, figure: 'none', atMost: 1 }, goal];
  const verdicts = goals.map((each) => judge(each, samples));
  const trial = { name: 'trial', summary: '', rival: 'llama-server', phases: {}, goals } as const;
  const figures = tally([{ trial, verdicts, samples, seconds: 1 }]);
  t.strictSame(figures, { nHeld: 1, nMissed: 1, nUnmeasured: 1 });
  t.strictSame(summaryLines(figures), ['1 goals not measured', '1 goals held, 1 missed']);
});

t.test('a round beside a rival that got nothing done has no ratio', async (t) => {
  const failing = (rounds: readonly number[]) => samples.rival.map((each, i) => (rounds.includes(i) ? { 'many.rate': 0 } : each));
  const against = { ...goal, against: 'rival', atLeast: 1.95 } as const;
  const { ratio, holds, ...verdict } = judge(against, { ...samples, rival: failing([0, 1, 2]) });
  t.match({ ratio, holds }, { ratio: undefined, holds: undefined });
  t.match(verdict, { ours: 90, rival: 0 });
  t.match(judge(against, { ...samples, rival: failing([1]) }), { ratio: 2, ratioLow: 2, ratioHigh: 2, holds: true });
});

t.test('a percentile of nothing is no figure', async (t) => {
  t.ok(Number.isNaN(at([], 0.99)));
  t.equal(judge({ ...goal, figure: 'x', atMost: 5 }, { ...samples, ours: [{ x: at([], 0.99) }] }).holds, undefined);
});
