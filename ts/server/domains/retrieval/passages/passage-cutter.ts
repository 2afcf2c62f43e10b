/**
 * Cuts a document into passages: at headings, pages, sheets and slides, else between sentences, rows and lines of code. Neighbours
 * overlap, so that what stands across a cut is found from either side.
 */
import type { Block } from '../../../extraction/extracted-document.ts';
import { type Atom, atomsOf, wordBoundary } from './atoms.ts';
import { type DocumentText, documentText, type ExtractedDocument } from './document-text.ts';

/** A piece of a document that is found and cited as one. */
export interface Passage {
  /** Counted from 0 within its document. */
  readonly seq: number;
  /** Of the stored text, from `start` to before `end`, UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Headings that it stands below, outermost first, joined by ` > `. */
  readonly heading?: string;
  readonly page?: number;
  readonly sheet?: string;
  readonly slide?: number;
  /** The time in a recording at which it is said. */
  readonly startSeconds?: number;
  readonly endSeconds?: number;
}

interface CutOptions {
  /** Characters that a passage has at most, unless one row or line is longer. */
  readonly size: number;
  readonly overlap: number;
}

export const DEFAULT_CUT: CutOptions = { size: 1_200, overlap: 150 };

/** A shorter section is not worth a passage of its own: it stays with the one that follows. */
const LEAST_SECTION = 300;
const MAX_HEADING = 300;
/**
 * Speech is cited by its seconds: a passage ends with a sentence, so that the next one begins where it is said, unless that is
 * so near that a listener does not mind.
 */
const SPOKEN_SIZE = 400;
const NEAR_SECONDS = 2;
const ENDS_SENTENCE = /[.!?…。？！]["”»)]?$/;

interface CutDocument extends DocumentText {
  readonly passages: readonly Passage[];
}

export function cutDocument(document: ExtractedDocument, options: CutOptions = DEFAULT_CUT): CutDocument {
  const whole = documentText(document);
  const cutter = new PassageCutter(whole.text, options);
  for (const placed of whole.blocks) for (const atom of atomsOf(placed, whole.text)) cutter.take(atom);
  cutter.close();
  return { ...whole, passages: cutter.passages };
}

class PassageCutter {
  readonly passages: Passage[] = [];
  readonly #text: string;
  readonly #options: CutOptions;
  readonly #headings = new HeadingPath();
  /** Of the passage that is being filled. */
  #atoms: Atom[] = [];
  #start = 0;
  #heading: string | undefined;
  /** Where the passage begins that overlaps the one before; undefined: at its first atom. */
  #overlapStart: number | undefined;

  constructor(text: string, options: CutOptions) {
    this.#text = text;
    this.#options = options;
  }

  take(atom: Atom): void {
    const last = this.#atoms.at(-1);
    if (last !== undefined && (!isSamePlace(last.block, atom.block) || this.#isSaid(last, atom))) this.close();
    else if (last !== undefined && atom.block.type === 'heading' && this.#length() >= LEAST_SECTION) this.close();
    else if (last !== undefined && atom.end - this.#start > this.#options.size) this.#closeFull();
    if (atom.block.type === 'heading') this.#headings.enter(this.#text.slice(atom.start, atom.end), atom.block.level ?? 1);
    if (this.#atoms.length === 0) this.#begin(atom);
    this.#atoms.push(atom);
  }

  /** Whether a passage of a recording ends between the two. */
  #isSaid(last: Atom, { block: { startSeconds }, end }: Atom): boolean {
    const from = this.#atoms[0]?.block.startSeconds;
    if (startSeconds === undefined || from === undefined) return false;
    if (end - this.#start > SPOKEN_SIZE) return true;
    const isSentence = ENDS_SENTENCE.test(this.#text.slice(last.start, last.end).trimEnd());
    return isSentence && startSeconds - from > NEAR_SECONDS;
  }

  /** Ends the passage, and the next one does not overlap it. */
  close(): void {
    this.#emit(this.#atoms);
    this.#atoms = [];
    this.#overlapStart = undefined;
  }

  #begin(atom: Atom): void {
    // What overlaps may leave no space for the next atom.
    const overlaps = this.#overlapStart !== undefined && atom.end - this.#overlapStart <= this.#options.size;
    this.#start = overlaps ? (this.#overlapStart ?? atom.start) : atom.start;
    this.#overlapStart = undefined;
    this.#heading = this.#headings.text();
  }

  /** Headings at the end of a full passage go with what follows them. */
  #closeFull(): void {
    const firstHeading = this.#trailingHeadings();
    const moved = this.#atoms.splice(firstHeading);
    this.#emit(this.#atoms);
    this.#overlapStart = moved.length > 0 ? undefined : this.#overlapFrom(this.#atoms);
    this.#atoms = [];
    for (const heading of moved) {
      if (this.#atoms.length === 0) this.#begin(heading);
      this.#atoms.push(heading);
    }
  }

  #trailingHeadings(): number {
    let first = this.#atoms.length;
    while (first > 1 && this.#atoms[first - 1]?.block.type === 'heading') first -= 1;
    return first;
  }

  /** Whole atoms as far as they fit; prose is cut between words where its last sentence is longer. */
  #overlapFrom(atoms: readonly Atom[]): number | undefined {
    const last = atoms.at(-1);
    if (last === undefined) return undefined;
    const least = last.end - this.#options.overlap;
    const fitting = atoms.find(({ start }) => start >= least);
    if (fitting !== undefined && fitting.start > this.#start) return fitting.start;
    if (!last.isProse || least <= this.#start) return undefined;
    return wordBoundary(this.#text, least - this.#options.overlap, least);
  }

  #emit(atoms: readonly Atom[]): void {
    const last = atoms.at(-1);
    if (last === undefined) return;
    const text = this.#text.slice(this.#start, last.end).trimEnd();
    // Of empty lines alone, or of what overlaps and empty lines.
    if (text.trim() === '' || this.#start + text.length <= (this.passages.at(-1)?.end ?? 0)) return;
    const { page, sheet, slide } = last.block;
    this.passages.push({
      seq: this.passages.length,
      start: this.#start,
      end: this.#start + text.length,
      text,
      ...(this.#heading === undefined ? {} : { heading: this.#heading }),
      ...(page === undefined ? {} : { page }),
      ...(sheet === undefined ? {} : { sheet }),
      ...(slide === undefined ? {} : { slide }),
      ...secondsOf(atoms[0]?.block, last.block),
    });
  }

  #length(): number {
    const last = this.#atoms.at(-1);
    return last === undefined ? 0 : last.end - this.#start;
  }
}

function secondsOf(first: Block | undefined, { endSeconds }: Block): Pick<Passage, 'startSeconds' | 'endSeconds'> {
  const startSeconds = first?.startSeconds;
  return startSeconds === undefined || endSeconds === undefined ? {} : { startSeconds, endSeconds };
}

/** The headings that stand above a place. */
class HeadingPath {
  #path: { level: number; text: string }[] = [];

  enter(heading: string, level: number): void {
    const text = heading.replace(/\s+/g, ' ').trim();
    this.#path = [...this.#path.filter((above) => above.level < level), { level, text }];
  }

  text(): string | undefined {
    if (this.#path.length === 0) return undefined;
    return this.#path
      .map(({ text }) => text)
      .join(' > ')
      .slice(0, MAX_HEADING)
      .toWellFormed();
  }
}

function isSamePlace(a: Block, b: Block): boolean {
  return a.page === b.page && a.sheet === b.sheet && a.slide === b.slide;
}
