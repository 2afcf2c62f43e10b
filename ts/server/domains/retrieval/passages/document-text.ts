/** The stored text of a document: its blocks, one after the other, each with its place. */
import type { Block } from '../../../extraction/extracted-document.ts';

/** A document of any origin: a file that was extracted, or a text. */
export interface ExtractedDocument {
  /** What the file is: `text`, `markdown`, `pdf`. */
  readonly kind: string;
  readonly title?: string;
  readonly blocks: readonly Block[];
  /** Sentences about what was left out of it. */
  readonly warnings?: readonly string[];
}

export interface PlacedBlock {
  readonly block: Block;
  /** In the stored text, from `start` to before `end`. */
  readonly start: number;
  readonly end: number;
}

export interface DocumentText {
  readonly text: string;
  readonly blocks: readonly PlacedBlock[];
}

/** Rows of a table and pieces of code follow each other line by line; all else has an empty line between. Empty blocks are left out. */
export function documentText({ blocks }: ExtractedDocument): DocumentText {
  const placed: PlacedBlock[] = [];
  const parts: string[] = [];
  let at = 0;
  for (const given of blocks) {
    const block = { ...given, text: cleanText(given.text) };
    if (block.text === '') continue;
    const before = separator(placed.at(-1)?.block, block);
    parts.push(before, block.text);
    const start = at + before.length;
    at = start + block.text.length;
    placed.push({ block, start, end: at });
  }
  return { text: parts.join(''), blocks: placed };
}

function separator(previous: Block | undefined, next: Block): string {
  if (previous === undefined) return '';
  const isLined = next.type === 'table-row' || next.type === 'code';
  return isLined && previous.type === next.type ? '\n' : '\n\n';
}

/** Databases keep no NUL, and no half of a surrogate pair. */
function cleanText(text: string): string {
  return text
    .replaceAll('\0', '')
    .replaceAll('\r\n', '\n')
    .toWellFormed()
    .trimEnd()
    .replace(/^\s*\n/, '');
}
