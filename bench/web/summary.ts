/** What is kept of a run of this suite: its figures beside their goals, without the samples. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from '../machine.ts';
import { resultsFolder } from '../result-file.ts';
import { rounded } from '../summary-file.ts';
import { type Figure, holds } from './table.ts';

interface WebRun {
  /** ISO 8601; when the run had ended. */
  at: string;
  model: string;
  nRounds: number;
  machine: Machine;
  figures: readonly Figure[];
}

export function summarise({ figures, ...facts }: WebRun) {
  const goals = figures.map((figure) => ({ ...rounded(figure), holds: holds(figure) }));
  return { ...facts, suite: 'web', figures: goals };
}

/** Returns the path. */
export function writeSummary(run: WebRun): string {
  const path = join(resultsFolder, 'web.summary.json');
  writeFileSync(path, `${JSON.stringify(summarise(run), null, 1)}\n`);
  return path;
}
