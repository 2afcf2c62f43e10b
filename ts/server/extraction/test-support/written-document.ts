/** A document as tests describe it, whatever the kind of file it is then written as. */
export type WrittenBlock =
  | { type: 'heading'; text: string; level: number }
  | { type: 'paragraph'; text: string }
  | { type: 'note'; text: string }
  | { type: 'table'; rows: string[][] }
  | { type: 'page-break' };

export interface WrittenDocument {
  title?: string;
  language?: string;
  blocks: WrittenBlock[];
  /** What the program claims to have counted; the true number by default. */
  nPages?: number;
}

export interface WrittenSheet {
  name: string;
  rows: (string | number | Date)[][];
  /** By cell, such as `B2`. */
  comments?: Record<string, string>;
}

export interface WrittenSlide {
  title: string;
  lines: string[];
  table?: string[][];
  notes?: string;
}

export function countPages(blocks: readonly WrittenBlock[]): number {
  return 1 + blocks.filter(({ type }) => type === 'page-break').length;
}
