/** What the page's script draws: for each goal the rounds' figures of every side. */
import type { Side, TrialResult } from '../runner.ts';

interface Plot {
  title: string;
  unit: string;
  series: PlotSeries[];
}

interface PlotSeries {
  label: string;
  side: Side;
  /** One for each round; null where the figure was not measured. */
  values: (number | null)[];
}

/** A figure with several goals is drawn once. */
export function plotsOf({ trial, verdicts, samples }: TrialResult): Plot[] {
  const goals = new Map(verdicts.map(({ goal }) => [goal.figure, goal]));
  return [...goals.values()].map(({ figure, unit }) => ({
    title: figure,
    unit,
    series: sides(trial)
      .map(([side, label]) => ({ side, label, values: samples[side].map((sample) => sample[figure] ?? null) }))
      .filter(({ values }) => values.some((value) => value !== null)),
  }));
}

function sides({ ours, rival, ceiling }: TrialResult['trial']): [Side, string][] {
  const named: [Side, string | undefined][] = [
    ['ours', ours ?? 'svc'],
    ['rival', rival],
    ['ceiling', ceiling],
  ];
  return named.flatMap(([side, label]) => (label === undefined ? [] : [[side, label]]));
}
