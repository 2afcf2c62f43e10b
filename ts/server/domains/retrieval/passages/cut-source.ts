/** A document cut into passages, which are prepared for embedding and for the index as they are taken. */
import type { Block } from '../../../extraction/extracted-document.ts';
import { packTerms, termVector } from '../terms/term-vector.ts';
import type { ExtractedDocument } from './document-text.ts';
import { cutDocument, type Passage } from './passage-cutter.ts';
import { readText } from './text-blocks.ts';

export interface PreparedPassage extends Passage {
  readonly terms: Uint8Array<ArrayBuffer>;
  /** What is embedded: the passage behind its title, headings and page. */
  readonly embedded: string;
}

/** `text` and `markdown`: the parts are its text. `blocks`: each is a JSON array of blocks. */
type SourceForm = 'text' | 'markdown' | 'blocks';

/** What a document is made of, in parts that each fit into a row. */
export interface DocumentSource {
  readonly form: SourceForm;
  /** Undefined: the document's own, if it has one. */
  readonly title: string | undefined;
  readonly parts: readonly string[];
}

export class CutSource {
  readonly title: string | undefined;
  readonly passages: readonly Passage[];

  private constructor(document: ExtractedDocument, title: string | undefined) {
    this.title = title ?? document.title;
    this.passages = cutDocument(document).passages;
  }

  static of({ form, title, parts }: DocumentSource): CutSource {
    if (form !== 'blocks') return new CutSource(readText(parts.join(''), form), title);
    const blocks = parts.flatMap((part) => JSON.parse(part) as Block[]);
    return new CutSource({ kind: form, blocks }, title);
  }

  prepare(from: number, count: number): PreparedPassage[] {
    return this.passages.slice(from, from + count).map((passage) => {
      const embedded = passagePrefix(this.title, passage) + passage.text;
      return { ...passage, embedded, terms: packTerms(termVector(embedded)) };
    });
  }
}

/** What stands before the passage where it is embedded and indexed, so that it is found by its title and headings as well. */
function passagePrefix(
  title: string | undefined,
  { heading, page, sheet, slide }: Omit<Passage, 'seq' | 'start' | 'end' | 'text'>,
): string {
  const place = [
    page === undefined ? '' : `page ${page}`,
    sheet === undefined ? '' : `sheet ${sheet}`,
    slide === undefined ? '' : `slide ${slide}`,
  ];
  const parts = [title ?? '', heading ?? '', ...place].filter((part) => part !== '');
  return parts.length === 0 ? '' : `${parts.join(' | ')}\n`;
}
