/** Pieces of text that stand close behind each other on one line are one segment; a wider gap parts columns and cells. */
import type { TextPiece } from './page-text.ts';

export interface Segment extends Fragment {
  y: number;
  size: number;
  /** Parts with narrower gaps between them, which are cells where other rows say so, and words otherwise. */
  fragments: Fragment[];
}

interface Fragment {
  text: string;
  x: number;
  right: number;
}

/** In font sizes. Justified lines have gaps of up to one between words. */
const CELL_GAP = 1.2;
const FRAGMENT_GAP = 0.45;
/** What a PDF leaves out instead of a space. */
const WORD_GAP = 0.15;
const BASELINE_TOLERANCE = 0.35;

/** From top to bottom, and from left to right within a line. */
export function joinSegments(pieces: readonly TextPiece[]): Segment[] {
  return linesOf(pieces).flatMap((line) => segmentsOf(line));
}

/** Pieces whose baselines are nearly the same: an exponent stands a little above its line. */
function linesOf(pieces: readonly TextPiece[]): TextPiece[][] {
  const sorted = [...pieces].sort((p, q) => p.y - q.y || p.x - q.x);
  const lines: TextPiece[][] = [];
  let lineY = Number.NEGATIVE_INFINITY;
  for (const piece of sorted) {
    const line = lines.at(-1);
    if (line !== undefined && piece.y - lineY <= Math.max(piece.size, line[0]?.size ?? 0) * BASELINE_TOLERANCE) line.push(piece);
    else {
      lines.push([piece]);
      lineY = piece.y;
    }
  }
  for (const line of lines) line.sort((p, q) => p.x - q.x);
  return lines;
}

function segmentsOf(line: readonly TextPiece[]): Segment[] {
  const segments: Segment[] = [];
  for (const piece of line) {
    const last = segments.at(-1);
    const gap = last === undefined ? 0 : piece.x - last.right;
    if (last === undefined || gap > Math.max(piece.size, last.size) * CELL_GAP) segments.push(begin(piece));
    else join(last, piece, gap);
  }
  return segments.map((segment) => ({ ...segment, text: segment.text.trim() })).filter(({ text }) => text !== '');
}

function begin({ text, x, width, y, size }: TextPiece): Segment {
  const right = x + width;
  return { text, x, right, y, size, fragments: [{ text, x, right }] };
}

function join(segment: Segment, { text, x, width, size }: TextPiece, gap: number): void {
  const right = x + width;
  const fragment = segment.fragments.at(-1);
  if (fragment === undefined || gap > size * FRAGMENT_GAP) segment.fragments.push({ text, x, right });
  else {
    fragment.text += spaceBetween(fragment.text, text, gap, size) + text;
    fragment.right = Math.max(fragment.right, right);
  }
  segment.text += spaceBetween(segment.text, text, gap, size) + text;
  segment.right = Math.max(segment.right, right);
  // The size of a line is that of most of its text.
  if (text.trim().length > segment.text.length / 2) segment.size = size;
}

function spaceBetween(before: string, behind: string, gap: number, size: number): string {
  return gap > size * WORD_GAP && !before.endsWith(' ') && !behind.startsWith(' ') ? ' ' : '';
}
