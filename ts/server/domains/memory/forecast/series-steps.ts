/** Points in time as steps of one length, and forecasts of them by rules of one line. Pure. */

export interface SeriesPoint {
  /** Milliseconds since 1970. */
  readonly ts: number;
  readonly value: number;
}

/** Values at `start`, `start + stepMs` and so on. */
export interface Steps {
  readonly start: number;
  readonly stepMs: number;
  readonly values: Float64Array;
}

const LEAST_POINTS = 3;
/** The newest steps of a longer series are used. */
const MOST_STEPS = 8_000;
const DAY_MS = 86_400_000;

/**
 * Means of each step, in whole minutes if the points lie that far apart; a step without a point is as the one before it. Undefined: fewer than three points,
 * or more gaps than steps with points.
 */
export function stepsOf(points: readonly SeriesPoint[]): Steps | undefined {
  const sorted = points.filter(({ ts, value }) => Number.isFinite(ts) && Number.isFinite(value)).sort((a, b) => a.ts - b.ts);
  if (sorted.length < LEAST_POINTS) return undefined;
  const gaps = sorted.slice(1).map(({ ts }, i) => ts - (sorted[i]?.ts ?? ts));
  const stepMs = roundedStep(gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0);
  if (stepMs <= 0) return undefined;
  const last = Math.floor((sorted.at(-1)?.ts ?? 0) / stepMs);
  const first = Math.max(Math.floor((sorted[0]?.ts ?? 0) / stepMs), last - MOST_STEPS + 1);
  const sums = new Float64Array(last - first + 1);
  const counts = new Float64Array(sums.length);
  for (const { ts, value } of sorted) {
    const i = Math.floor(ts / stepMs) - first;
    if (i < 0) continue;
    sums[i] = (sums[i] ?? 0) + value;
    counts[i] = (counts[i] ?? 0) + 1;
  }
  const begin = counts.findIndex((n) => n > 0);
  const values = sums.slice(begin);
  let nFilled = 0;
  for (let i = 0; i < values.length; i++) {
    const n = counts[begin + i] ?? 0;
    if (n === 0) nFilled += 1;
    values[i] = n === 0 ? (values[i - 1] ?? 0) : (values[i] ?? 0) / n;
  }
  if (nFilled * 2 > values.length || values.length < LEAST_POINTS) return undefined;
  return { start: (first + begin) * stepMs, stepMs, values };
}

function roundedStep(ms: number): number {
  return ms < 60_000 ? Math.round(ms) : Math.round(ms / 60_000) * 60_000;
}

/** Steps of a day and of a week; undefined where a day is no whole number of steps, or only one. */
export function periodsOf({ stepMs }: Pick<Steps, 'stepMs'>): { day: number; week: number } | undefined {
  const day = DAY_MS / stepMs;
  return Number.isInteger(day) && day >= 2 ? { day, week: 7 * day } : undefined;
}

const BASELINES = ['naive', 'seasonal_naive_day', 'seasonal_naive_week', 'exponential_smoothing'] as const;
export type Baseline = (typeof BASELINES)[number];

/** A rule that forecasts `horizon` steps after the first `length` values. */
export type Forecaster = (values: Float64Array, length: number, horizon: number) => Float64Array;

/** Those that the series is long enough for. @param nTraining values that the smoothing may be fitted to. */
export function baselinesOf(steps: Steps, nTraining: number): Map<Baseline, Forecaster> {
  const periods = periodsOf(steps);
  const rules = new Map<Baseline, Forecaster>([['naive', seasonal(1)]]);
  if (periods !== undefined && nTraining >= 2 * periods.day) rules.set('seasonal_naive_day', seasonal(periods.day));
  if (periods !== undefined && nTraining >= 2 * periods.week) rules.set('seasonal_naive_week', seasonal(periods.week));
  rules.set('exponential_smoothing', smoothing(steps.values.subarray(0, nTraining)));
  return rules;
}

function seasonal(period: number): Forecaster {
  return (values, length, horizon) =>
    Float64Array.from({ length: horizon }, (_, k) => values[length - period + (k % period)] ?? 0);
}

/** Simple exponential smoothing, with the weight that foresaw the training values best. */
function smoothing(training: Float64Array): Forecaster {
  const errorOf = (alpha: number): number => {
    let [level, sum] = [training[0] ?? 0, 0];
    for (const value of training) {
      sum += Math.abs(value - level);
      level += alpha * (value - level);
    }
    return sum;
  };
  const [alpha = 1] = Array.from({ length: 20 }, (_, i) => (i + 1) / 20).sort((a, b) => errorOf(a) - errorOf(b));
  return (values, length, horizon) => {
    let level = values[0] ?? 0;
    for (let i = 1; i < length; i++) level += alpha * ((values[i] ?? 0) - level);
    return new Float64Array(horizon).fill(level);
  };
}
