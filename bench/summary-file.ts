import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDirty } from './commit.ts';
import { UsageError } from './options.ts';
import { type ResultFile, type RunFacts, readResults, resultsFolder } from './result-file.ts';
import { suites } from './suites.ts';
import type { Trial } from './trial.ts';

/** Writes what a result file says of each goal, without its samples: small enough to be kept. Returns the summary's path. */
export function writeSummary(resultPath: string): string {
  const run = readResults(resultPath);
  requireWholeSuite(
    run,
    run.results.map(({ trial }) => trial),
  );
  const path = join(resultsFolder, `${run.suite}-${shapeOf(run.model)}.summary.json`);
  writeFileSync(path, `${JSON.stringify(summarise(run), null, 1)}\n`);
  return path;
}

/** Summaries are committed and one replaces another: throws unless this run is of all that a run of the suite measures, and of a commit. */
export function requireWholeSuite(
  { suite, isQuick, rivalFlags, machine }: Pick<RunFacts, 'suite' | 'isQuick' | 'rivalFlags' | 'machine'>,
  trials: readonly Trial[],
): void {
  const own = suites[suite]?.trials ?? [];
  const isMissing = ({ name, onlyWhenNamed }: Trial) => !onlyWhenNamed && trials.every((trial) => trial.name !== name);
  const missing = own.filter(isMissing).map(({ name }) => name);
  const hasOtherRival = trials.some(({ name, rival }) => rival !== own.find((trial) => trial.name === name)?.rival);
  if (isQuick) throw new UsageError('--summary is of whole loads: run the suite without --quick');
  if (missing.length > 0) throw new UsageError(`--summary is of a whole suite: run it with ${missing.join(', ')} too`);
  if (hasOtherRival || rivalFlags.length > 0)
    throw new UsageError("--summary is beside the trials' own rivals: run the suite without --rival and --rival-flags");
  if (isDirty(machine.commit))
    throw new UsageError(
      '--summary is of a commit, and tracked files differ from it: commit or revert them before the run (git status names them)',
    );
}

/** A run's facts and, of each trial, its rival, how long it took and what was measured for its goals. */
export function summarise({ results, ...facts }: ResultFile) {
  const trials = results.map(({ trial, seconds, verdicts }) => ({
    name: trial.name,
    rival: trial.rival,
    seconds: Math.round(seconds),
    goals: verdicts.map(({ goal, ...figures }) => ({ ...goal, ...rounded(figures) })),
  }));
  return { ...facts, trials };
}

/** The name by which `--model` knows a random model; of others their file's. */
export function shapeOf(model: string): string {
  return /^random-[a-z]+-(tiny|mid|q05)-/.exec(model)?.[1] ?? model.replace(/\.gguf$/, '');
}

export function rounded(figures: object): object {
  const four = (value: unknown) => (typeof value === 'number' ? Math.round(value * 10_000) / 10_000 : value);
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, four(value)]));
}
