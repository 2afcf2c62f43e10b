/** What each test file takes: seconds of wall clock and of CPU, as the last recorded run measured them, in test/budgets.json. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Cost {
  wallSeconds: number;
  cpuSeconds: number;
}

const place = join('test', 'budgets.json');

export class Budgets {
  readonly #costs: ReadonlyMap<string, Cost>;

  constructor(costs: Iterable<readonly [file: string, cost: Cost]>) {
    this.#costs = new Map(costs);
  }

  static read(root: string): Budgets {
    const path = join(root, place);
    if (!existsSync(path)) return new Budgets([]);
    const rows = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, [number, number]>);
    return new Budgets(rows.map(([file, [wallSeconds, cpuSeconds]]) => [file, { wallSeconds, cpuSeconds }]));
  }

  /** Undefined: the file is new. */
  costOf(file: string): Cost | undefined {
    return this.#costs.get(file);
  }

  /** By CPU. */
  dearestFirst(files: readonly string[]): string[] {
    const cpu = (file: string) => this.costOf(file)?.cpuSeconds ?? Number.MAX_VALUE;
    return files.toSorted((a, b) => cpu(b) - cpu(a) || (a < b ? -1 : 1));
  }

  /** With what a run measured in place of what was known; files that are gone are left out. */
  with(measured: ReadonlyMap<string, Cost>, files: readonly string[]): Budgets {
    return new Budgets(
      files.flatMap((file) => {
        const cost = measured.get(file) ?? this.costOf(file);
        return cost ? [[file, cost] as const] : [];
      }),
    );
  }

  /** A line for each file, by name. */
  write(root: string): void {
    const lines = [...this.#costs]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(
        ([file, { wallSeconds, cpuSeconds }]) =>
          `  ${JSON.stringify(file)}: [${wallSeconds.toFixed(1)}, ${cpuSeconds.toFixed(1)}]`,
      );
    writeFileSync(join(root, place), `{\n${lines.join(',\n')}\n}\n`);
  }
}
