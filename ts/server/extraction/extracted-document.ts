/** What extraction makes of a file: its text as blocks in reading order, each with the place where a citation finds it again. */

const DOCUMENT_KINDS = [
  'text',
  'markdown',
  'html',
  'json',
  'yaml',
  'csv',
  'sql',
  'code',
  'email',
  'pdf',
  'docx',
  'xlsx',
  'pptx',
  'odt',
  'ods',
  'odp',
  'epub',
  'audio-transcript',
  'video-transcript',
] as const;

export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** `note`: what stands beside the text, such as speaker notes, footnotes and comments. A `table-row` is never cut, nor a line of `code`. */
export type BlockType = 'heading' | 'paragraph' | 'table-row' | 'code' | 'note';

export interface Block {
  type: BlockType;
  /** Never empty. Lines are separated by \n; a table row is one line, with its column's name before each value where the table has names. */
  text: string;
  /** Of a heading, 1 to 6; 1 is the highest. */
  level?: number;
  /** From 1. */
  page?: number;
  /** Name of the sheet. */
  sheet?: string;
  /** From 1. */
  slide?: number;
  /** The time in a recording at which it is said. */
  startSeconds?: number;
  endSeconds?: number;
}

export interface ExtractedDocument {
  kind: DocumentKind;
  title?: string;
  /** As the file declares it, a language tag such as `de` or `en-GB`. */
  language?: string;
  blocks: Block[];
  /** Of documents that have pages, sheets or slides, how many. */
  pages?: number;
  /** The first links of a web page, as they are written there. */
  links?: string[];
  /** Sentences about what was left out. */
  warnings: string[];
}
