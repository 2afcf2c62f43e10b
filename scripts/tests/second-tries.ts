/** Files that passed only when they were tried again, run by run: chance may do that once. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const runsKept = 10;
const runsAllowed = 1;

/** Adds a run to the list at `path`, and tells which files needed a second try in more of the last ten runs than chance explains. */
export function recordSecondTries(path: string, files: readonly string[]): string[] {
  const runs = [...readRuns(path), [...files]].slice(-runsKept);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(runs)}\n`);
  return [...new Set(files)].filter((file) => runs.filter((run) => run.includes(file)).length > runsAllowed);
}

function readRuns(path: string): string[][] {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as string[][];
  } catch {
    // The first run of this machine, or one that was cut off while it wrote.
    return [];
  }
}
