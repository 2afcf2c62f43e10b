import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine, type Machine } from './machine.ts';
import type { TrialResult } from './runner.ts';

const folder = join(import.meta.dirname, 'results');

export interface RunFacts {
  suite: string;
  /** File name of the model, without its folder. */
  model: string;
  modelSha256: string;
  nThreads: number;
  nRounds: number;
  /** Beside those that follow from the trials. */
  rivalFlags: readonly string[];
}

/** What a result file holds. */
export interface ResultFile extends RunFacts {
  /** ISO 8601. */
  at: string;
  machine: Machine;
  results: readonly TrialResult[];
}

/** Writes every sample of a run, with the machine and the commit. */
export function writeResults(facts: RunFacts, results: readonly TrialResult[]): { path: string; run: ResultFile } {
  const at = new Date().toISOString();
  const path = join(folder, `${facts.suite}-${at.replaceAll(':', '').slice(0, 17)}.json`);
  mkdirSync(folder, { recursive: true });
  const run = { at, ...facts, machine: describeMachine(), results };
  writeFileSync(path, `${JSON.stringify(run, null, 2)}\n`);
  return { path, run };
}

/** Writes what a result file says of each goal, without its samples: small enough to be kept. Returns the summary's path. */
export function writeSummary(resultPath: string): string {
  const run = JSON.parse(readFileSync(resultPath, 'utf8')) as ResultFile;
  const path = join(folder, `${run.suite}-${shapeOf(run.model)}.summary.json`);
  writeFileSync(path, `${JSON.stringify(summarise(run), null, 1)}\n`);
  return path;
}

/** A run's facts and, of each trial, how long it took and what was measured for its goals. */
export function summarise({ results, ...facts }: ResultFile): object {
  const trials = results.map(({ trial, seconds, verdicts }) => ({
    name: trial.name,
    seconds: Math.round(seconds),
    goals: verdicts.map(({ goal, ...figures }) => ({ ...goal, ...rounded(figures) })),
  }));
  return { ...facts, trials };
}

/** The name by which `--model` knows a random model; of others their file's. */
export function shapeOf(model: string): string {
  return /^random-[a-z]+-(tiny|mid|q05)-/.exec(model)?.[1] ?? model.replace(/\.gguf$/, '');
}

function rounded(figures: object): object {
  const four = (value: unknown) => (typeof value === 'number' ? Math.round(value * 10_000) / 10_000 : value);
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, four(value)]));
}
