/** One page's text as pieces with their places: what the PDF draws, seen so that its lines run from left to right. */
import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { ExtractionRefusal } from '../extraction-refusal.ts';

/** In points, from the upper left corner of the page as it is turned to be read. */
export interface TextPiece {
  text: string;
  x: number;
  /** Of the baseline. */
  y: number;
  width: number;
  /** Of the font, in points. */
  size: number;
}

export interface PageText {
  /** By the direction of their lines: upright first. */
  directions: TextPiece[][];
}

/** A page that draws more is no page of text. */
const MAX_PIECES = 200_000;
/** Of the characters of the direction that has most. What runs along a margin, as a stamp, is less and no part of the text. */
const LEAST_SHARE = 0.5;

type Direction = 'upright' | 'upwards' | 'downwards';
type Piece = TextPiece & { direction: Direction };

export async function readPageText(page: PDFPageProxy): Promise<PageText> {
  const viewport = page.getViewport({ scale: 1 });
  const pieces: Piece[] = [];
  const reader = page.streamTextContent({ includeMarkedContent: false, disableNormalization: false }).getReader();
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: { items: RawItem[] } };
    if (done) return { directions: mainDirections(pieces) };
    for (const item of value?.items ?? []) {
      const piece = toPiece(item, viewport);
      if (piece !== undefined) pieces.push(piece);
    }
    if (pieces.length > MAX_PIECES)
      throw new ExtractionRefusal('too_much_text', `A page of the PDF has more than ${MAX_PIECES} pieces of text.`);
  }
}

function mainDirections(pieces: readonly Piece[]): TextPiece[][] {
  const groups = (['upright', 'upwards', 'downwards'] as const).map((wanted) =>
    pieces.filter(({ direction }) => direction === wanted),
  );
  const lengths = groups.map((group) => group.reduce((sum, { text }) => sum + text.length, 0));
  return groups.filter((group, i) => group.length > 0 && (lengths[i] ?? 0) >= LEAST_SHARE * Math.max(...lengths));
}

interface RawItem {
  str?: string;
  transform?: number[];
  width?: number;
  height?: number;
}

interface Viewport {
  readonly width: number;
  readonly height: number;
  readonly transform: readonly number[];
}

function toPiece({ str = '', transform, width = 0 }: RawItem, viewport: Viewport): Piece | undefined {
  if (str.trim() === '' || transform === undefined) return undefined;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = multiply(viewport.transform, transform);
  const size = Math.hypot(c, d) || Math.hypot(a, b);
  const direction = Math.abs(b) <= Math.abs(a) ? 'upright' : b < 0 ? 'upwards' : 'downwards';
  const piece = { text: str, ...turned(direction, e, f, viewport), width: Math.abs(width), size, direction } as const;
  return size > 0 && Object.values(piece).every((value) => typeof value === 'string' || Number.isFinite(value))
    ? piece
    : undefined;
}

/** The place on the page when it is turned so that lines of this direction run to the right. */
function turned(direction: Direction, x: number, y: number, { width, height }: Viewport): { x: number; y: number } {
  if (direction === 'upwards') return { x: height - y, y: x };
  return direction === 'downwards' ? { x: y, y: width - x } : { x, y };
}

function multiply(m: readonly number[], n: readonly number[]): number[] {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = m;
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = n;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}
