/** What the samples say about one goal. */
import type { Samples } from './runner.ts';
import { median, spread } from './statistics.ts';
import { type Goal, holds, type Sample } from './trial.ts';

/** Figures that were not measured are absent. */
export interface Verdict {
  goal: Goal;
  /** Median over the rounds, in the goal's unit. */
  ours?: number;
  /** The rival's same figure. */
  rival?: number;
  /** What ours is divided by: the rival's figure, the ceiling's, or our own baseline. */
  reference?: number;
  /** Median of the rounds' ratios, ours divided by the reference, and their extremes. */
  ratio?: number;
  ratioLow?: number;
  ratioHigh?: number;
  /** The rival's figure divided by its own baseline, or by the ceiling. */
  rivalRatio?: number;
  /** Undefined for a goal without a bound, or when a figure is missing. */
  holds?: boolean;
}

export function judge(goal: Goal, samples: Samples): Verdict {
  const ours = pick(samples.ours, goal.figure);
  const rival = pick(samples.rival, goal.figure);
  const ratios = divide(ours, references(goal, samples, 'ours'));
  const figures = {
    ours: middle(ours),
    rival: middle(rival),
    reference: middle(references(goal, samples, 'ours')),
    ratio: middle(ratios),
    ratioLow: ratios.length > 0 ? spread(ratios).low : undefined,
    ratioHigh: ratios.length > 0 ? spread(ratios).high : undefined,
    rivalRatio: goal.against === 'rival' ? undefined : middle(divide(rival, references(goal, samples, 'rival'))),
  };
  const value = goal.against === undefined ? figures.ours : figures.ratio;
  const known = Object.entries({ ...figures, holds: holds(goal, value ?? Number.NaN) }).filter(([, each]) => each !== undefined);
  return { goal, ...Object.fromEntries(known) };
}

function references({ figure, against }: Goal, samples: Samples, side: 'ours' | 'rival'): number[] {
  if (against === undefined) return [];
  if (against === 'rival' || against === 'ceiling') return pick(samples[against], figure);
  return pick(samples[side], against.baseline);
}

/** One value a round, or none at all when a round lacks it. */
function pick(samples: readonly Sample[], figure: string): number[] {
  const values = samples.map((sample) => sample[figure]).filter((value) => value !== undefined && Number.isFinite(value));
  return values.length === samples.length ? (values as number[]) : [];
}

/** One ratio a round, but for rounds without one, as beside a rival that got nothing done. */
function divide(values: readonly number[], by: readonly number[]): number[] {
  if (values.length !== by.length) return [];
  return values.map((value, round) => value / (by[round] ?? Number.NaN)).filter(Number.isFinite);
}

function middle(values: readonly number[]): number | undefined {
  return values.length > 0 ? median(values) : undefined;
}
