/**
 * `npm run bench -- forecast`: world models beside the rules, on hourly series of `../shared/data/nab` and on generated ones. A model learns the first four fifths of
 * a series and chooses its method there; the last fifth, which nothing was chosen by, is foreseen from rolling origins. Figures are mean absolute errors over
 * that of the rule that did best on the last fifth, which nobody knows beforehand.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  baselinesOf,
  type Forecaster,
  type SeriesPoint,
  type Steps,
  stepsOf,
} from '../../ts/server/domains/memory/forecast/series-steps.ts';
import { foreseenSteps, trainWorldModel } from '../../ts/server/domains/memory/forecast/world-model.ts';
import { besideTraining } from './beside-training.ts';

const DATA = join(import.meta.dirname, '../../../shared/data/nab');
const HOUR_MS = 3_600_000;
const HORIZON = 24;
const LEAST_TRAINING = 1_000;
const GOALS = { geometricMean: 0.9, worst: 1.05, coverage: [0.7, 0.9], trainingSeconds: 60 } as const;

export interface Goal {
  readonly text: string;
  readonly isHeld: boolean;
}

interface Figures {
  readonly ratio: number;
  readonly coverage: number;
  readonly seconds: number;
  readonly method: string;
  /** The error of statsmodels' smoothing over that of the same rule; undefined: it is not installed. */
  readonly rival: number | undefined;
}

function measure(steps: Steps): Figures {
  const nTraining = Math.floor(steps.values.length * 0.8);
  const upTo = (length: number): Steps => ({ ...steps, values: steps.values.subarray(0, length) });
  const before = process.cpuUsage();
  const model = trainWorldModel(upTo(nTraining), { seed: 1 });
  const { user, system } = process.cpuUsage(before);
  const rules = [...baselinesOf(steps, nTraining).values()];
  const sums = new Float64Array(rules.length);
  let [own, n, nWithin] = [0, 0, 0];
  for (let origin = nTraining; origin + HORIZON <= steps.values.length; origin += HORIZON) {
    const foreseen = foreseenSteps(model, upTo(origin), HORIZON, 1).steps;
    for (const [k, { mean, quantiles }] of foreseen.entries()) {
      const value = steps.values[origin + k] ?? 0;
      own += Math.abs(value - mean);
      n += 1;
      if (value >= (quantiles[0] ?? 0) && value <= (quantiles[2] ?? 0)) nWithin += 1;
    }
    for (const [i, rule] of rules.entries()) sums[i] = (sums[i] ?? 0) + errorOf(rule, steps.values, origin);
  }
  const best = Math.min(...sums);
  const rival = rivalError(steps.values, nTraining);
  return {
    ratio: own / best,
    coverage: nWithin / n,
    seconds: (user + system) / 1e6,
    method: model.method,
    rival: rival && rival / best,
  };
}

const RIVAL = join(import.meta.dirname, 'statsmodels-rival.py');

/** The sum of absolute errors from the same origins, by the Python that has Debian’s packages. */
function rivalError(values: Float64Array, nTraining: number): number | undefined {
  const input = JSON.stringify({ values: [...values], nTraining, horizon: HORIZON });
  const { status, stdout } = spawnSync('/usr/bin/python3', [RIVAL], { input, encoding: 'utf8' });
  const error = Number(stdout);
  return status === 0 && Number.isFinite(error) ? error : undefined;
}

function errorOf(rule: Forecaster, values: Float64Array, origin: number): number {
  return rule(values, origin, HORIZON).reduce((sum, value, k) => sum + Math.abs((values[origin + k] ?? 0) - value), 0);
}

function readSeries(path: string): SeriesPoint[] {
  const hours = new Map<number, number[]>();
  for (const line of readFileSync(path, 'utf8').trim().split('\n').slice(1)) {
    const [time = '', value = ''] = line.split(',');
    const ts = Date.parse(`${time.replace(' ', 'T')}Z`);
    const hour = ts - (ts % HOUR_MS);
    hours.set(hour, [...(hours.get(hour) ?? []), Number(value)]);
  }
  return [...hours].map(([ts, values]) => ({ ts, value: values.reduce((sum, value) => sum + value, 0) / values.length }));
}

/** Hours of a load by day and week that grows, jumps or spikes. */
function generated(kind: 'grows' | 'jumps' | 'spikes', nHours: number): SeriesPoint[] {
  let state = 7;
  const random = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  return Array.from({ length: nHours }, (_, i) => {
    const byDay = 30 * Math.sin((2 * Math.PI * i) / 24) + (i % 168 < 120 ? 25 : 0);
    const more = { grows: i / 40, jumps: i % 900 > 450 ? 40 : 0, spikes: random() < 0.02 ? 150 : 0 }[kind];
    return { ts: i * HOUR_MS, value: 100 + byDay + more + 12 * (random() + random() - 1) };
  });
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

const given = readdirSync(DATA)
  .filter((name) => name.endsWith('.csv'))
  .map((name) => ({ name: name.slice(0, -4), points: readSeries(join(DATA, name)) }));
const made = (['grows', 'jumps', 'spikes'] as const).map((kind) => ({
  name: `generated: ${kind}`,
  points: generated(kind, 2_000),
}));
const measured: (Figures & { name: string })[] = [];
for (const { name, points } of [...given, ...made]) {
  const steps = stepsOf(points);
  if (steps === undefined || steps.values.length * 0.8 < LEAST_TRAINING) continue;
  const figures = measure(steps);
  measured.push({ name, ...figures });
  const { ratio, coverage, seconds, method, rival } = figures;
  console.log(
    `${name.padEnd(40)} ${method.padEnd(22)} ${ratio.toFixed(3)}  80 % holds ${(100 * coverage).toFixed(0)} %  ${seconds.toFixed(1)} s  rival ${rival?.toFixed(3) ?? '-'}`,
  );
}
const ratios = measured.map(({ ratio }) => ratio);
const mean = geometricMean(ratios);
const rivals = measured.flatMap(({ rival }) => (rival === undefined ? [] : [rival]));
console.log(
  rivals.length === 0
    ? 'rival: none; apt install python3-statsmodels'
    : `rival: statsmodels Holt-Winters by day, geometric mean ${geometricMean(rivals).toFixed(3)} of ${rivals.length} series`,
);
const coverage = measured.reduce((sum, each) => sum + each.coverage, 0) / measured.length;
const [least, most] = GOALS.coverage;
const goals: Goal[] = [
  { text: `geometric mean ${mean.toFixed(3)}, at most ${GOALS.geometricMean}`, isHeld: mean <= GOALS.geometricMean },
  { text: `worst ${Math.max(...ratios).toFixed(3)}, at most ${GOALS.worst}`, isHeld: Math.max(...ratios) <= GOALS.worst },
  {
    text: `80 % interval holds ${(100 * coverage).toFixed(0)} %, ${100 * least} to ${100 * most} %`,
    isHeld: coverage >= least && coverage <= most,
  },
  {
    text: `training at most ${Math.max(...measured.map(({ seconds }) => seconds)).toFixed(1)} s of one core, at most ${GOALS.trainingSeconds}`,
    isHeld: measured.every(({ seconds }) => seconds <= GOALS.trainingSeconds),
  },
  await besideTraining(),
];
for (const { text, isHeld } of goals) console.log(`${isHeld ? 'held  ' : 'missed'} ${text}`);
const nHeld = goals.filter(({ isHeld }) => isHeld).length;
console.log(`${nHeld} goals held, ${goals.length - nHeld} missed`);
