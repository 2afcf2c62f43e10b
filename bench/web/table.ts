/** Figures of pages beside each other and beside their goals, as text. */
export interface Figure {
  name: string;
  unit: string;
  /** Undefined: not measured. */
  ours: number | undefined;
  rival: number | undefined;
  atMost?: number;
}

export function tableLines(figures: readonly Figure[]): string[] {
  const rows = figures.map(({ name, unit, ours, rival, atMost }) => [
    `${name} (${unit})`,
    textOf(ours),
    textOf(rival),
    atMost === undefined ? '' : `<= ${atMost}`,
    holds({ ours, atMost }) === undefined ? '' : holds({ ours, atMost }) ? 'held' : 'missed',
  ]);
  const all = [['figure', 'svc', 'llama-server', 'goal', ''], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** Undefined: without a goal, or not measured. */
export function holds({ ours, atMost }: { ours: number | undefined; atMost?: number | undefined }): boolean | undefined {
  return ours === undefined || atMost === undefined ? undefined : ours <= atMost;
}

function textOf(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '-';
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}
