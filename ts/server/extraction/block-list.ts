/** Gathers the blocks of a document and keeps them within the limits. */
import type { Block, BlockType } from './extracted-document.ts';
import type { ExtractionLimits } from './extraction-limits.ts';
import { ExtractionRefusal } from './extraction-refusal.ts';

type Place = Pick<Block, 'page' | 'sheet' | 'slide'>;

/** One block is cut into several above this many characters, so that no single one is out of proportion. */
const MAX_BLOCK_LENGTH = 100_000;
const MAX_WARNINGS = 50;

export class BlockList {
  readonly blocks: Block[] = [];
  readonly warnings: string[] = [];
  readonly limits: ExtractionLimits;
  /** Where the blocks that follow stand. */
  place: Place = {};
  #textLength = 0;

  constructor(limits: ExtractionLimits) {
    this.limits = limits;
  }

  /** Of all blocks together. */
  get textLength(): number {
    return this.#textLength;
  }

  heading(text: string, level: number): void {
    this.#add('heading', oneLine(text), Math.min(6, Math.max(1, level)));
  }

  paragraph(text: string): void {
    this.#add('paragraph', cleanLines(text));
  }

  note(text: string): void {
    this.#add('note', cleanLines(text));
  }

  tableRow(text: string): void {
    this.#add('table-row', oneLine(text));
  }

  /** Spaces at the beginning of lines stay. */
  code(text: string): void {
    const lines = storable(text)
      .split('\n')
      .map((line) => line.trimEnd());
    this.#add('code', lines.join('\n').replace(/^\n+/, '').trimEnd());
  }

  warn(sentence: string): void {
    if (this.warnings.length < MAX_WARNINGS && !this.warnings.includes(sentence)) this.warnings.push(sentence);
  }

  #add(type: BlockType, text: string, level?: number): void {
    for (let rest = text; rest !== ''; ) {
      const piece = rest.length <= MAX_BLOCK_LENGTH ? rest : cutPiece(rest);
      rest = rest.slice(piece.length);
      this.#push({ type, text: piece, ...(level === undefined ? {} : { level }), ...this.place });
    }
  }

  #push(block: Block): void {
    if (isBlank(block.text)) return;
    this.#textLength += block.text.length;
    const { maxBlocks, maxTextLength } = this.limits;
    if (this.blocks.length >= maxBlocks) throw tooMuch(`more than ${maxBlocks} paragraphs and table rows`);
    if (this.#textLength > maxTextLength) throw tooMuch(`more than ${maxTextLength} characters`);
    this.blocks.push(block);
  }
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function tooMuch(what: string): ExtractionRefusal {
  return new ExtractionRefusal('too_much_text', `The document has ${what}.`);
}

/** Cuts behind a line or a word where there is one, and never between the halves of a surrogate pair. */
function cutPiece(text: string): string {
  const piece = text.slice(0, MAX_BLOCK_LENGTH);
  const at = Math.max(piece.lastIndexOf('\n'), piece.lastIndexOf(' ')) + 1;
  if (at > MAX_BLOCK_LENGTH / 2) return piece.slice(0, at);
  return /[\ud800-\udbff]$/.test(piece) ? piece.slice(0, -1) : piece;
}

/** Databases keep no NUL and no half of a surrogate pair; soft hyphens would keep words from being found. */
function storable(text: string): string {
  return (
    text
      .toWellFormed()
      .replace(/\r\n?|\u2028|\u2029|\u0085/g, '\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\ufeff\ufffe\uffff]/g, '')
  );
}

function cleanLines(text: string): string {
  return storable(text)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{2,}/g, '\n')
    .trim();
}

export function oneLine(text: string): string {
  return storable(text).replace(/\s+/g, ' ').trim();
}
