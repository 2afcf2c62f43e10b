import fc from 'fast-check';
import t from 'tap';
import { escapeHtml } from '../../ts/server/platform/text/escape-html.ts';
import { reportLines } from '../report.ts';
import type { ResultFile } from '../result-file.ts';
import type { TrialResult } from '../runner.ts';
import { renderPage } from './page.ts';
import { plotsOf } from './plot.ts';
import { scriptJson } from './script-json.ts';

const assets = { plotScript: 'var uPlot;', plotStyle: '.uplot {}', script: '(() => {})();', style: 'body {}' };

const trial: TrialResult = {
  trial: {
    name: 'streams',
    summary: 'many at once',
    rival: 'llama-server',
    phases: {},
    goals: [],
  },
  seconds: 12,
  verdicts: [
    {
      goal: { figure: 'chats.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 0.98 },
      ours: 200,
      rival: 100,
      reference: 100,
      ratio: 2,
      ratioLow: 1.9,
      ratioHigh: 2.1,
      holds: true,
    },
    { goal: { figure: 'chats.tokensPerSecond', unit: 'tok/s', atLeast: 1_000 }, ours: 200, rival: 100, holds: false },
    { goal: { figure: 'chats.ttftMs', unit: 'ms' } },
  ],
  samples: {
    ours: [{ 'chats.tokensPerSecond': 190 }, { 'chats.tokensPerSecond': 210 }],
    rival: [{ 'chats.tokensPerSecond': 100 }, {}],
    ceiling: [],
  },
};

function run(changes: Partial<ResultFile> = {}): ResultFile {
  const machine = {
    cpu: 'CPU',
    nCores: 2,
    memoryBytes: 2 ** 34,
    gpus: [],
    preset: 'cpu',
    kernel: '6.1',
    node: 'v22',
    commit: 'abc',
  };
  const settings = { nThreads: 2, nRounds: 2, isQuick: false, rivalFlags: ['-ub', '256'] };
  const facts = { suite: 'serving', model: 'mid.gguf', modelSha256: '00', ...settings, machine };
  return { at: '2026-01-01T00:00:00.000Z', ...facts, results: [trial], ...changes };
}

t.test('a page has each goal with its figures, its spread and whether it holds', async (t) => {
  const page = renderPage(run(), assets);
  t.match(page, /2\.00 \(1\.90 to 2\.10\)/);
  t.match(page, /<tr class="held">.*ratio &gt;= 0\.98.*>held</);
  t.match(page, /<tr class="missed">.*&gt;= 1000.*>missed</);
  t.match(page, /<tr class="open">.*>none</);
  t.match(page, /1 goals held, 1 missed/);
  t.match(page, /2 rounds, the rival with -ub 256/);
  t.match(renderPage(run({ isQuick: true }), assets), /2 rounds, quick loads/);
});

t.test('a page and the lines of a run without a rival name none', async (t) => {
  const { rival: _, ...alone } = trial.trial;
  const result = { ...trial, trial: alone, samples: { ...trial.samples, rival: [] } };
  t.match(renderPage(run({ results: [result] }), assets), /<th scope="col">svc<\/th><th scope="col">no rival<\/th>/);
  t.notMatch(reportLines(result).join(), /llama-server/);
});

t.test('a page asks the network for nothing', async (t) => {
  t.notMatch(renderPage(run(), assets), /\b(?:src|href)=|@import|url\(/);
});

t.test('a figure with two goals is drawn once, with a hole where a round lacks it', async (t) => {
  t.strictSame(plotsOf(trial), [
    {
      title: 'chats.tokensPerSecond',
      unit: 'tok/s',
      series: [
        { side: 'ours', label: 'svc', values: [190, 210] },
        { side: 'rival', label: 'llama-server', values: [100, null] },
      ],
    },
    { title: 'chats.ttftMs', unit: 'ms', series: [] },
  ]);
});

t.test('hostile names stay text', async (t) => {
  const hostile = `</script><script>alert(1)</script><img src=x onerror="alert('2')">&`;
  const named = {
    ...trial,
    trial: { ...trial.trial, name: hostile, summary: hostile },
    verdicts: trial.verdicts.map((verdict) => ({ ...verdict, goal: { ...verdict.goal, figure: hostile, unit: hostile } })),
    samples: { ours: [{ [hostile]: 1 }], rival: [], ceiling: [] },
  };
  const machine = { ...run().machine, cpu: hostile, commit: hostile };
  const page = renderPage(run({ model: hostile, suite: hostile, at: hostile, machine, results: [named] }), assets);
  const harmless = renderPage(run(), assets);
  const count = (text: string, part: string) => text.split(part).length - 1;
  for (const part of ['<script', '</script', '<img']) t.equal(count(page, part), count(harmless, part), part);
});

t.test('escaped text has no markup, and JSON in a script reads back', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const json = scriptJson({ text });
      return !/[<>"']/.test(escapeHtml(text)) && !json.includes('<') && JSON.parse(json).text === text;
    }),
  );
});

t.test('an asset that would end its element is refused', async (t) => {
  t.throws(() => renderPage(run(), { ...assets, script: 'const a = "</SCRIPT>"' }), /contains <\/script/);
});
