/** The smallest pieces of a document that a passage is made of: sentences, rows, lines of code, headings. */
import type { Block } from '../../../extraction/extracted-document.ts';
import type { PlacedBlock } from './document-text.ts';

export interface Atom {
  readonly start: number;
  readonly end: number;
  readonly block: Block;
  /** Prose may be cut again where a passage overlaps the one before. */
  readonly isProse: boolean;
}

/** Longer ones would make a passage of their own that no model can read; they are cut between words. */
const MAX_PROSE_ATOM = 1_000;
/** Rows and lines stay whole up to this length, however long a passage should be. */
const MAX_LINE_ATOM = 4_800;

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' });

export function* atomsOf(placed: PlacedBlock, text: string): Generator<Atom> {
  const { block, start, end } = placed;
  if (block.type === 'heading') return yield { start, end, block, isProse: false };
  if (block.type === 'table-row') return yield* cut({ start, end, block, isProse: false }, text, MAX_LINE_ATOM);
  if (block.type === 'code') {
    for (const [from, to] of lines(text, start, end))
      yield* cut({ start: from, end: to, block, isProse: false }, text, MAX_LINE_ATOM);
    return;
  }
  // The segmenter takes quadratic time on some long texts, so it sees one line at a time.
  for (const [from, to] of lines(text, start, end)) {
    for (const [first, behind] of pieces(text, from, to)) {
      for (const { index, segment } of sentences.segment(text.slice(first, behind))) {
        yield* cut({ start: first + index, end: first + index + segment.length, block, isProse: true }, text, MAX_PROSE_ATOM);
      }
    }
  }
}

const MAX_SEGMENTED = 8_192;

/** A line without an end is cut before the segmenter sees it. */
function* pieces(text: string, start: number, end: number): Generator<[number, number]> {
  for (let at = start; at < end; ) {
    const to = end - at <= MAX_SEGMENTED ? end : wordBoundary(text, at, at + MAX_SEGMENTED);
    yield [at, to];
    at = to;
  }
}

/** Each line with its line break. */
function* lines(text: string, start: number, end: number): Generator<[number, number]> {
  for (let at = start; at < end; ) {
    const found = text.indexOf('\n', at);
    const to = found < 0 || found >= end ? end : found + 1;
    yield [at, to];
    at = to;
  }
}

function* cut(atom: Atom, text: string, most: number): Generator<Atom> {
  let at = atom.start;
  while (atom.end - at > most) {
    const to = wordBoundary(text, at, at + most);
    yield { ...atom, start: at, end: to };
    at = to;
  }
  if (at < atom.end) yield { ...atom, start: at, end: atom.end };
}

/** The last place behind white space at or before `end`, within the second half; else `end`, but never inside a surrogate pair. */
export function wordBoundary(text: string, start: number, end: number): number {
  const least = start + Math.floor((end - start) / 2);
  for (let at = end; at > least; at--) if (/\s/.test(text.charAt(at - 1))) return at;
  return /[\udc00-\udfff]/.test(text.charAt(end)) ? end - 1 : end;
}
