import { mkdirSync, writeFileSync } from 'node:fs';
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
