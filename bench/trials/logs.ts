/** Collecting, indexing and finding log lines, beside what an operator would use instead. */
import type { Trial } from '../trial.ts';

function trial(name: string, nLines: number, more: Partial<Trial> = {}): Trial {
  const figure = (name: string) => `lines.${name}`;
  return {
    name,
    summary: `${nLines} lines of six hours, collected, indexed and searched, beside zstdgrep, SQLite FTS5 and ClickHouse's engine (chdb, where it is)`,
    ours: 'svc-logs',
    rival: 'log-rivals',
    model: 'tiny',
    phases: { lines: { kind: 'logs', nLines, nCollected: Math.min(nLines, 500_000), searches: 200 } },
    goals: [
      { figure: figure('collectedShare'), unit: 'of rsyslog alone', atLeast: 0.7 },
      { figure: figure('rareP99Ms'), unit: 'ms', against: 'rival', atMost: 0.01 },
      { figure: figure('commonP50Ms'), unit: 'ms', against: 'rival', atMost: 1 },
      { figure: figure('commonP99Ms'), unit: 'ms', atMost: 1_000 },
      { figure: figure('indexShare'), unit: 'of raw', atMost: 0.06 },
      { figure: figure('filesShare'), unit: 'of raw', atMost: 0.5 },
      { figure: figure('linesPerCpuSecond'), unit: 'lines a second and core' },
      { figure: figure('indexedPerSecond'), unit: 'lines/s, collected and indexed' },
    ],
    ...more,
  };
}

export const logTrials: readonly Trial[] = [
  trial('two-million', 2_000_000),
  trial('ten-million', 10_000_000, { onlyWhenNamed: true }),
  trial('twenty-million', 20_000_000, { onlyWhenNamed: true }),
];
