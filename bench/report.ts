import type { TrialResult } from './runner.ts';
import { describeGoal } from './trial.ts';

/** One line for each trial, with the verdict last. */
export function reportLine({ trial, ours, rival, ratio, ratioLow, ratioHigh, holds }: TrialResult): string {
  const { unit } = trial.metric;
  const verdict = trial.goal ? `goal ${describeGoal(trial.goal)}: ${holds ? 'HELD' : 'MISSED'}` : 'no goal';
  return [
    trial.name.padEnd(20),
    `svc ${figure(ours)} ${unit}`,
    `${trial.rival} ${figure(rival)} ${unit}`,
    `ratio ${ratio.toFixed(2)} (${ratioLow.toFixed(2)} to ${ratioHigh.toFixed(2)})`,
    verdict,
  ].join('  ');
}

export function summaryLine(results: readonly TrialResult[]): string {
  const nHeld = results.filter((result) => result.holds === true).length;
  const nMissed = results.filter((result) => result.holds === false).length;
  return `${nHeld} goals held, ${nMissed} missed`;
}

function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1);
}
