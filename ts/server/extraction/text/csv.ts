/** Values separated by a comma, semicolon, tab or bar (RFC 4180, and what spreadsheets write elsewhere). */
import type { BlockList } from '../block-list.ts';
import { TableRows } from '../table-rows.ts';

const SEPARATORS = [',', ';', '\t', '|'] as const;
const SAMPLE_ROWS = 20;

export function readCsv(text: string, blocks: BlockList): void {
  const table = new TableRows(blocks);
  for (const cells of csvRows(text, findSeparator(text) ?? ',')) table.add(cells);
  table.end();
}

/** The separator that cuts the first rows into the same number of cells, two or more. Undefined: the text is no table. */
export function findSeparator(text: string): string | undefined {
  let best: { separator: string; nCells: number } | undefined;
  for (const separator of SEPARATORS) {
    const counts = firstRows(text, separator).map((cells) => cells.length);
    const nCells = counts[0] ?? 0;
    const nSame = counts.filter((count) => count === nCells).length;
    if (nCells < 2 || nSame < counts.length * 0.8 || nCells <= (best?.nCells ?? 1)) continue;
    best = { separator, nCells };
  }
  return best?.separator;
}

function firstRows(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  for (const cells of csvRows(text.slice(0, 64 * 1024), separator)) {
    if (cells.length > 1 || cells[0] !== '') rows.push(cells);
    if (rows.length >= SAMPLE_ROWS) break;
  }
  return rows;
}

/** A quote that is never closed ends with the text. */
export function* csvRows(text: string, separator: string): Generator<string[]> {
  const plain = new RegExp(`[${separator === '|' ? '\\|' : separator}\\r\\n]`, 'g');
  let cells: string[] = [];
  for (let at = 0; at < text.length; ) {
    const { cell, end } = text[at] === '"' ? quotedCell(text, at) : { cell: '', end: at };
    plain.lastIndex = end;
    const stop = plain.exec(text)?.index ?? text.length;
    cells.push(cell + text.slice(end, stop));
    at = stop + 1;
    if (text[stop] === separator) {
      if (at >= text.length) cells.push('');
      continue;
    }
    if (text[stop] === '\r' && text[at] === '\n') at++;
    yield cells;
    cells = [];
  }
  if (cells.length > 0) yield cells;
}

function quotedCell(text: string, start: number): { cell: string; end: number } {
  const parts: string[] = [];
  let from = start + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return { cell: parts.join('"') + (parts.length > 0 ? '"' : '') + text.slice(from), end: text.length };
    parts.push(text.slice(from, quote));
    if (text[quote + 1] !== '"') return { cell: parts.join('"'), end: quote + 1 };
    from = quote + 2;
  }
}
