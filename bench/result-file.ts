import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine } from './machine.ts';
import type { TrialResult } from './runner.ts';

const folder = join(import.meta.dirname, 'results');

export interface RunFacts {
  suite: string;
  /** File name of the model, without its folder. */
  model: string;
  modelSha256: string;
  nThreads: number;
  nRounds: number;
}

/** Writes every sample of a run, with the machine and the commit, and returns the file's path. */
export function writeResults(facts: RunFacts, results: readonly TrialResult[]): string {
  const at = new Date().toISOString();
  const path = join(folder, `${facts.suite}-${at.replaceAll(':', '').slice(0, 15)}.json`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, `${JSON.stringify({ at, ...facts, machine: describeMachine(), results }, null, 2)}\n`);
  return path;
}
