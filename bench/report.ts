import type { TrialResult } from './runner.ts';
import { describeBound } from './trial.ts';
import type { Verdict } from './verdict.ts';

/** The trial's name and question, then a line for each goal with its verdict last. */
export function reportLines({ trial, verdicts }: TrialResult): string[] {
  return [`${trial.name}: ${trial.summary}`, ...verdicts.map((verdict) => `  ${verdictLine(verdict, trial)}`)];
}

function verdictLine(verdict: Verdict, { rival, ceiling }: TrialResult['trial']): string {
  const { goal, ours, reference, rivalRatio } = verdict;
  const parts = [goal.figure.padEnd(34), `svc ${figure(ours)} ${goal.unit}`, `${rival} ${figure(verdict.rival)}`];
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
  if (goal.atLeast === undefined && goal.atMost === undefined) return 'no goal';
  return `goal ${describeBound(goal)}: ${holds === undefined ? 'NOT MEASURED' : holds ? 'HELD' : 'MISSED'}`;
}

export function summaryLine(results: readonly TrialResult[]): string {
  const verdicts = results.flatMap((result) => result.verdicts);
  const nHeld = verdicts.filter(({ holds }) => holds === true).length;
  const nMissed = verdicts.filter(({ holds }) => holds === false).length;
  return `${nHeld} goals held, ${nMissed} missed`;
}

export function figure(value: number | undefined): string {
  if (value === undefined) return '-';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}
