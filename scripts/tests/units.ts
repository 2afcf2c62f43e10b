/** What one process runs: a test file, or pure ones together. */
import type { Budgets } from './budgets.ts';

const filesTogether = 25;

/**
 * The longest first, and what nobody measured before it. `placeOf`: files of one name may share a process; undefined has one of its own.
 */
export function planUnits(files: readonly string[], budgets: Budgets, placeOf: (file: string) => string | undefined): string[][] {
  const places = Map.groupBy(files, placeOf);
  const alone = (places.get(undefined) ?? []).map((file) => [file]);
  places.delete(undefined);
  const units = [...alone, ...[...places.values()].flatMap(split)];
  const wall = (unit: readonly string[]) =>
    unit.reduce((sum, file) => sum + (budgets.costOf(file)?.wallSeconds ?? Number.MAX_VALUE), 0);
  return units.sort((a, b) => wall(b) - wall(a));
}

/** Files that lie together import the same. */
function split(files: readonly string[]): string[][] {
  const sorted = files.toSorted();
  const nParts = Math.ceil(sorted.length / filesTogether);
  const size = Math.ceil(sorted.length / nParts);
  return Array.from({ length: nParts }, (_, i) => sorted.slice(i * size, (i + 1) * size));
}
