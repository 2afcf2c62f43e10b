/** A trial is data: what is asked of both servers, what is compared, and what must come out. */
import type { Load } from './load/load.ts';

export interface Trial {
  name: string;
  /** One sentence: what is measured and why it matters. */
  summary: string;
  rival: RivalName;
  load: Load;
  /** The sample member that is compared. */
  metric: { name: string; unit: string; better: 'higher' | 'lower' };
  /** Without a goal the trial informs and is not counted. */
  goal?: Goal;
}

export type RivalName = 'bare-uws' | 'llama-server';

/** `ratio` is ours divided by the rival's; `ours` is our figure itself, in the metric's unit. */
export type Goal = { of: 'ratio' | 'ours' } & ({ atLeast: number } | { atMost: number });

/** What one round against one server measured; units stand in the names. */
export type Sample = Record<string, number>;

export function holds(goal: Goal, ours: number, ratio: number): boolean {
  const value = goal.of === 'ratio' ? ratio : ours;
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
}

export function describeGoal(goal: Goal): string {
  const bound = 'atLeast' in goal ? `>= ${goal.atLeast}` : `<= ${goal.atMost}`;
  return `${goal.of} ${bound}`;
}

/** The same trial in a fraction of the time; its figures are for a first look only. */
export function quicken(trial: Trial): Trial {
  const { load } = trial;
  if (load.kind === 'wrk') return { ...trial, load: { ...load, seconds: 1 } };
  return { ...trial, load: { ...load, requestsPerClient: 1, maxTokens: Math.min(load.maxTokens, 32) } };
}
