/** One page's text as pieces with their places: what the PDF draws, seen upright. */
import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { ExtractionRefusal } from '../extraction-refusal.ts';

/** In points, from the upper left corner of the page. */
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
  width: number;
  height: number;
  pieces: TextPiece[];
}

/** A page that draws more is no page of text. */
const MAX_PIECES = 200_000;

export async function readPageText(page: PDFPageProxy): Promise<PageText> {
  const { width, height, transform } = page.getViewport({ scale: 1 });
  const pieces: TextPiece[] = [];
  const reader = page.streamTextContent({ includeMarkedContent: false, disableNormalization: false }).getReader();
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: { items: RawItem[] } };
    if (done) return { width, height, pieces };
    for (const item of value?.items ?? []) {
      const piece = toPiece(item, transform);
      if (piece !== undefined) pieces.push(piece);
    }
    if (pieces.length > MAX_PIECES)
      throw new ExtractionRefusal('too_much_text', `A page of the PDF has more than ${MAX_PIECES} pieces of text.`);
  }
}

interface RawItem {
  str?: string;
  transform?: number[];
  width?: number;
  height?: number;
}

function toPiece({ str = '', transform, width = 0 }: RawItem, viewport: readonly number[]): TextPiece | undefined {
  if (str.trim() === '' || transform === undefined) return undefined;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = multiply(viewport, transform);
  const size = Math.hypot(c, d) || Math.hypot(a, b);
  const piece = { text: str, x: e, y: f, width: Math.abs(width), size };
  // Text that runs upwards along a margin is no part of any line.
  const isUpright = Math.abs(b) <= Math.abs(a);
  return isUpright && Object.values(piece).every((value) => typeof value === 'string' || Number.isFinite(value)) && size > 0
    ? piece
    : undefined;
}

function multiply(m: readonly number[], n: readonly number[]): number[] {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = m;
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = n;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}
