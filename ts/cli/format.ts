/** 1 kB is 1,000 bytes, as disks and download pages count. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

/** Columns as wide as their widest cell; the last one is not padded. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  ');
  return all.map((row) => line(row).trimEnd()).join('\n');
}

/** A table's columns: the head of each, and what a row has there; nothing is shown as a dash. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number | null | undefined>>;

export function tableOf<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  const cells = Object.values(columns);
  return formatTable(
    Object.keys(columns),
    rows.map((row) => cells.map((cell) => printable(String(cell(row) ?? '-')))),
  );
}

/** Text from files and servers may carry escape sequences that redraw the terminal; they are shown, not obeyed. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => {
    if (character === '\n' || character === '\t') return character;
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
