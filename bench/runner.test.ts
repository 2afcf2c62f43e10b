import t from 'tap';
import type { Contender } from './contenders/contender.ts';
import type { Load } from './load/load.ts';
import { type RunOptions, runTrial } from './runner.ts';
import type { Phase, Trial } from './trial.ts';

const settings = { model: 'model.gguf', nThreads: 1, nParallel: 1, nCtx: 512 };
const chat: Phase = { kind: 'closed', clients: 1, requestsPerClient: 1, ownWords: 8, maxTokens: 8 };
const trial: Trial = { name: 'trial', summary: '', rival: 'llama-server', phases: { one: chat, two: chat }, goals: [] };

/** A contender that writes down what is asked of it, and measures the seed. */
class Recorder {
  readonly log: string[] = [];

  contender(name: string, onLoad: (load: Load) => void = () => {}): Contender {
    const note = async (what: string) => void this.log.push(`${name} ${what}`);
    return {
      name,
      start: async () => {
        await note('starts');
        return {
          warmUp: () => note('warms up'),
          measure: async (load, seed) => {
            await note(load.kind);
            onLoad(load);
            return { seed, words: 'ownWords' in load ? load.ownWords : 0 };
          },
          stop: () => note('stops'),
        };
      },
    };
  }

  options(more: Partial<RunOptions> = {}): RunOptions {
    const contenders = { ours: this.contender('A'), rival: this.contender('B') };
    return { contenders, settings, nRounds: 2, onProgress: () => {}, ...more };
  }
}

async function logOf(fresh?: 'round' | 'phase'): Promise<string[]> {
  const recorder = new Recorder();
  await runTrial({ ...trial, ...(fresh ? { fresh } : {}) }, recorder.options());
  return recorder.log;
}

const both = (name: string) => [`${name} closed`, `${name} closed`];
const start = (name: string) => [`${name} starts`, `${name} warms up`];

t.test('ours and the rival are measured in turn, by servers that stay', async (t) => {
  const rounds = [...start('A'), ...both('A'), ...start('B'), ...both('B'), ...both('A'), ...both('B')];
  t.strictSame(await logOf(), [...rounds, 'A stops', 'B stops']);
});

t.test('with fresh rounds a server is started anew for each', async (t) => {
  const first = [...start('A'), ...both('A'), ...start('B'), ...both('B')];
  const second = ['A stops', ...start('A'), ...both('A'), 'B stops', ...start('B'), ...both('B')];
  t.strictSame(await logOf('round'), [...first, ...second, 'A stops', 'B stops']);
});

t.test('with fresh phases a server is started anew for each', async (t) => {
  const log = await logOf('phase');
  const ofOurs = log.filter((line) => line.startsWith('A'));
  t.strictSame(ofOurs.slice(0, 4), [...start('A'), 'A closed', 'A stops']);
  t.equal(ofOurs.filter((line) => line === 'A stops').length, 4);
});

t.test('all sides get the same prompts, and each phase and round others', async (t) => {
  const { samples } = await runTrial(trial, new Recorder().options());
  const seeds = samples.ours.flatMap((round) => [round['one.seed'], round['two.seed']]);
  t.equal(new Set(seeds).size, 4);
  t.strictSame(samples.rival, samples.ours);
});

t.test('the rival gets what a phase holds for it, and nobody else does', async (t) => {
  const phases = { one: { ...chat, forRival: { ownWords: 3 } } };
  const { samples } = await runTrial({ ...trial, phases }, new Recorder().options({ nRounds: 1 }));
  t.equal(samples.ours[0]?.['one.words'], 8);
  t.equal(samples.rival[0]?.['one.words'], 3);
});

t.test('a rate follows from an earlier phase of the same side', async (t) => {
  const rates: unknown[] = [];
  const poisson: Phase = { ...chat, kind: 'poisson', rate: { times: 2, of: 'one.words' }, seconds: 1 };
  const recorder = new Recorder();
  const ours = recorder.contender('A', (load) => {
    if (load.kind === 'poisson') rates.push(load.rate.perSecond);
  });
  await runTrial({ ...trial, phases: { one: chat, two: poisson } }, recorder.options({ contenders: { ours }, nRounds: 1 }));
  t.strictSame(rates, [16]);
});

t.test('what runs is stopped when a load fails', async (t) => {
  const recorder = new Recorder();
  const rival = recorder.contender('B', () => {
    throw new Error('no answer');
  });
  await t.rejects(runTrial(trial, recorder.options({ contenders: { ours: recorder.contender('A'), rival } })), /no answer/);
  t.strictSame(recorder.log.slice(-2), ['A stops', 'B stops']);
});

t.test('what warms up itself is not warmed up', async (t) => {
  const recorder = new Recorder();
  const wrk: Phase = { kind: 'wrk', path: '/', connections: 1, seconds: 1 };
  await runTrial({ ...trial, phases: { one: wrk } }, recorder.options({ nRounds: 1 }));
  t.notOk(recorder.log.includes('A warms up'));
});
