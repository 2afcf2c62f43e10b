/** From the segments of a page to its lines, in the order in which they are read; segments in columns that repeat are cells of a table. */
import type { PageLine } from './page-line.ts';
import type { PageText } from './page-text.ts';
import { readingOrder } from './reading-order.ts';
import { joinSegments, type Segment } from './segment.ts';

/** In font sizes: cells of one column begin or end this close to each other. */
const COLUMN_TOLERANCE = 1.5;

/** A page with more segments is a drawing, whose labels have no order. */
const MAX_ORDERED = 5_000;

export function linesOfPage({ directions }: PageText, page: number): PageLine[] {
  const groups = directions.flatMap((pieces) => {
    const segments = joinSegments(pieces);
    return segments.length > MAX_ORDERED ? [segments] : readingOrder(segments);
  });
  return groups.flatMap((group) => linesOfGroup(group, page));
}

function linesOfGroup(group: readonly Segment[], page: number): PageLine[] {
  const rows = rowsOf(group);
  const lines: PageLine[] = [];
  for (let i = 0; i < rows.length; ) {
    const end = tableEnd(rows, i);
    const table = rows.slice(i, Math.max(end, i + 1));
    const columns = table.length > 1 ? columnsOf(table) : undefined;
    for (const row of table) lines.push(toLine(row, columns, page, lines.length === 0));
    i += table.length;
  }
  return lines;
}

function rowsOf(group: readonly Segment[]): Segment[][] {
  const rows: Segment[][] = [];
  for (const segment of group) {
    const row = rows.at(-1);
    if (row !== undefined && Math.abs((row[0]?.y ?? 0) - segment.y) <= segment.size * 0.35) row.push(segment);
    else rows.push([segment]);
  }
  return rows;
}

/** Rows of two segments or more that follow each other and share columns; at least two make a table. */
function tableEnd(rows: readonly Segment[][], start: number): number {
  let end = start;
  while (
    end < rows.length &&
    (rows[end]?.length ?? 0) > 1 &&
    (end === start || sharesColumn(rows[end - 1] ?? [], rows[end] ?? []))
  )
    end++;
  return end - start > 1 ? end : start;
}

function sharesColumn(above: readonly Segment[], below: readonly Segment[]): boolean {
  const shared = below.filter((segment) => above.some((other) => isAligned(segment, other)));
  return shared.length >= Math.min(2, above.length, below.length);
}

function isAligned(p: Segment, q: Segment): boolean {
  const tolerance = Math.max(p.size, q.size) * COLUMN_TOLERANCE;
  return Math.abs(p.x - q.x) <= tolerance || Math.abs(p.right - q.right) <= tolerance || (p.x < q.right && q.x < p.right);
}

/** The ranges that the cells of a column cover, from left to right. */
function columnsOf(rows: readonly Segment[][]): Column[] {
  const columns: Column[] = [];
  const fragments = rows.flat().flatMap((segment) => segment.fragments);
  for (const { x, right } of fragments.sort((p, q) => p.x - q.x)) {
    const last = columns.at(-1);
    if (last !== undefined && x < last.right) last.right = Math.max(last.right, right);
    else columns.push({ x, right });
  }
  return columns;
}

interface Column {
  x: number;
  right: number;
}

function toLine(row: readonly Segment[], columns: readonly Column[] | undefined, page: number, isFirst: boolean): PageLine {
  const [first] = row;
  const cells = columns !== undefined && columns.length > 1 ? cellsOf(row, columns) : [row.map(({ text }) => text).join(' ')];
  return { page, y: first?.y ?? 0, size: Math.max(...row.map(({ size }) => size)), cells, isFirst };
}

function cellsOf(row: readonly Segment[], columns: readonly Column[]): string[] {
  const cells = columns.map(() => '');
  for (const { text, x, right } of row.flatMap(({ fragments }) => fragments)) {
    const i = columns.findIndex((column) => x < column.right && right > column.x);
    const at = i === -1 ? cells.length - 1 : i;
    cells[at] = `${cells[at]} ${text}`.trim();
  }
  return cells;
}
