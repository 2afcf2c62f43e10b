/** A document cut into passages, which are prepared for embedding and for the index as they are taken. */
import type { Block, ExtractedDocument } from '../passages/extracted-document.ts';
import { type Passage, passagePrefix } from '../passages/passage.ts';
import { cutDocument } from '../passages/passage-cutter.ts';
import { readText } from '../passages/text-blocks.ts';
import { packTerms, termVector } from '../terms/term-vector.ts';
import type { DocumentSource, PreparedPassage } from './index-messages.ts';

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
