import type { TrialResult } from './runner.ts';
import { describeBound, isBounded } from './trial.ts';
import type { Verdict } from './verdict.ts';

/** The trial's name and question, then a line for each goal with its verdict last. */
export function reportLines({ trial, verdicts, seconds }: TrialResult): string[] {
  return [
    `${trial.name}: ${trial.summary} (took ${Math.round(seconds)} s)`,
    ...verdicts.map((verdict) => `  ${verdictLine(verdict, trial)}`),
  ];
}

function verdictLine(verdict: Verdict, { ours: own = 'svc', rival, ceiling }: TrialResult['trial']): string {
  const { goal, ours, reference, rivalRatio } = verdict;
  const parts = [goal.figure.padEnd(34), `${own} ${figure(ours)} ${goal.unit}`];
  if (rival !== undefined) parts.push(`${rival} ${figure(verdict.rival)}`);
  if (goal.against === 'ceiling') parts.push(`${ceiling} ${figure(reference)}`);
  if (typeof goal.against === 'object') parts.push(`${goal.against.baseline} ${figure(reference)}`);
  if (goal.against !== undefined) parts.push(ratio(verdict));
  if (rivalRatio !== undefined) parts.push(`${rival}'s own ratio ${rivalRatio.toFixed(2)}`);
  parts.push(conclusion(verdict));
  return parts.join('  ');
}

function ratio({ ratio, ratioLow, ratioHigh }: Verdict): string {
  if (ratio === undefined) return 'ratio not measured';
  return `ratio ${ratio.toFixed(2)} (${ratioLow?.toFixed(2)} to ${ratioHigh?.toFixed(2)})`;
}

function conclusion({ goal, holds }: Verdict): string {
  if (!isBounded(goal)) return 'no goal';
  return `goal ${describeBound(goal)}: ${holds === undefined ? 'NOT MEASURED' : holds ? 'HELD' : 'MISSED'}`;
}

interface Tally {
  nHeld: number;
  nMissed: number;
  /** Goals with a bound and without a figure. */
  nUnmeasured: number;
}

export function tally(results: readonly TrialResult[]): Tally {
  const bounded = results.flatMap(({ verdicts }) => verdicts).filter(({ goal }) => isBounded(goal));
  const count = (holds: boolean | undefined) => bounded.filter((verdict) => verdict.holds === holds).length;
  return { nHeld: count(true), nMissed: count(false), nUnmeasured: count(undefined) };
}

/** What the bench ends with. */
export function summaryLines({ nHeld, nMissed, nUnmeasured }: Tally): string[] {
  const unmeasured = nUnmeasured > 0 ? [`${nUnmeasured} goals not measured`] : [];
  return [...unmeasured, `${nHeld} goals held, ${nMissed} missed`];
}

export function figure(value: number | undefined): string {
  if (value === undefined) return '-';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}
