/** What native/vector finds, how fast, and what it takes, beside libraries of the same purpose. */

import { withRival } from '../contenders/choose.ts';
import type { Goal, Trial } from '../trial.ts';
import { codedLibraries } from '../vectors/libraries/libraries.ts';
import type { VectorLoad } from '../vectors/vector-load.ts';

const FILTERS = [0.01, 0.1, 0.5];

function goals(phase: string): Goal[] {
  const kinds = ['', ...FILTERS.map((share) => `filter${100 * share}`)];
  const figure = (kind: string, name: string) =>
    `${phase}.${kind === '' ? name : `${kind}${name[0]?.toUpperCase()}${name.slice(1)}`}`;
  return [
    ...kinds.map((kind): Goal => ({ figure: figure(kind, 'recallAt10'), unit: '', atLeast: 0.99 })),
    ...kinds.map((kind): Goal => ({ figure: figure(kind, 'queriesPerSecond'), unit: 'queries/s', against: 'rival', atLeast: 1 })),
    { figure: `${phase}.addingP99Ms`, unit: 'ms', against: { baseline: `${phase}.idleP99Ms` }, atMost: 3 },
    { figure: `${phase}.memoryRatio`, unit: 'of vectors and links', atMost: 1.15 },
    { figure: `${phase}.addedPerSecond`, unit: 'vectors/s', against: 'rival' },
    ...codedGoals(phase),
  ];
}

/** Codes must find as much; what they save of memory and cost of speed stands beside. */
function codedGoals(phase: string): Goal[] {
  return codedLibraries.flatMap((library): Goal[] => [
    { figure: `${phase}.${library}.recallAt10`, unit: '', atLeast: 0.99 },
    ...FILTERS.map((share): Goal => ({ figure: `${phase}.${library}.filter${100 * share}RecallAt10`, unit: '', atLeast: 0.99 })),
    { figure: `${phase}.${library}.queriesPerSecond`, unit: 'queries/s' },
    { figure: `${phase}.${library}.memoryRatio`, unit: 'of vectors and links' },
  ]);
}

function trial(name: string, summary: string, phases: Record<string, VectorLoad>, more: Partial<Trial> = {}): Trial {
  return {
    name,
    summary,
    ours: 'svc-vectors',
    rival: 'vector-rivals',
    model: 'tiny',
    phases,
    goals: Object.keys(phases).flatMap(goals),
    ...more,
  };
}

const clustered = (count: number, dimensions: number): VectorLoad => ({
  kind: 'vectors',
  data: 'clustered',
  count,
  dimensions,
  queries: 100,
  filters: FILTERS,
  addingSeconds: 5,
});

export const vectorTrials: readonly Trial[] = [
  trial('real', 'XQuAD in four languages through the default embedder', {
    xquad: { ...clustered(10_000, 0), data: 'xquad' },
  }),
  trial('ten-thousand', '10,000 clustered vectors of 384 and 1,024 numbers', {
    d384: clustered(10_000, 384),
    d1024: clustered(10_000, 1_024),
  }),
  trial('hundred-thousand', '100,000 clustered vectors of 384 and 1,024 numbers', {
    d384: clustered(100_000, 384),
    d1024: clustered(100_000, 1_024),
  }),
  withRival(
    trial(
      'million',
      'a million clustered vectors of 384 numbers, ours alone: a start is a view of the file',
      { d384: { ...clustered(1_000_000, 384), queries: 20, addingSeconds: 0 } },
      {
        onlyWhenNamed: true,
        goals: [
          { figure: 'd384.recallAt10', unit: '', atLeast: 0.99 },
          { figure: 'd384.viewMs', unit: 'ms', atMost: 1_000 },
          { figure: 'd384.memoryRatio', unit: 'of vectors and links', atMost: 1.15 },
          ...codedLibraries.flatMap((library): Goal[] => [
            { figure: `d384.${library}.recallAt10`, unit: '', atLeast: 0.99 },
            { figure: `d384.${library}.viewMs`, unit: 'ms', atMost: 1_000 },
            { figure: `d384.${library}.memoryRatio`, unit: 'of vectors and links' },
          ]),
        ],
      },
    ),
    'none',
  ),
];
