import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.ts';
import type { TrialResult } from './runner.ts';

export const resultsFolder = join(import.meta.dirname, 'results');

/** What is known when a run starts. */
export interface RunFacts {
  suite: string;
  /** File name of the model, without its folder. */
  model: string;
  modelSha256: string;
  nThreads: number;
  nRounds: number;
  isQuick: boolean;
  /** Beside those that follow from the trials. */
  rivalFlags: readonly string[];
  machine: Machine;
}

/** What a result file holds. */
export interface ResultFile extends RunFacts {
  /** ISO 8601; when the run had ended. */
  at: string;
  results: readonly TrialResult[];
}

/** Writes every sample of a run, with the machine and the commit. */
export function writeResults(facts: RunFacts, results: readonly TrialResult[]): { path: string; run: ResultFile } {
  const at = new Date().toISOString();
  const path = join(resultsFolder, `${facts.suite}-${at.replaceAll(':', '').slice(0, 17)}.json`);
  mkdirSync(resultsFolder, { recursive: true });
  const run = { at, ...facts, results };
  writeFileSync(path, `${JSON.stringify(run, null, 2)}\n`);
  return { path, run };
}

/** Throws when the file is no result file. */
export function readResults(path: string): ResultFile {
  const run = JSON.parse(readFileSync(path, 'utf8')) as Partial<ResultFile>;
  if (!Array.isArray(run.results)) throw new Error(`${path} is no result file of the bench`);
  return run as ResultFile;
}
