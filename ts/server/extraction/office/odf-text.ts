/** The content of an OpenDocument file (ODF 1.3): text, sheets or slides, which share their paragraphs and tables. */
import type { XmlAttributes, XmlHandler } from '../archive/xml-reader.ts';
import type { BlockList } from '../block-list.ts';
import { ExtractionRefusal } from '../extraction-refusal.ts';
import { OdfTables } from './odf-tables.ts';
import type { PageCounter } from './page-counter.ts';

export type OdfKind = 'odt' | 'ods' | 'odp';

interface OpenParagraph {
  text: string[];
  /** Of a heading. */
  level: number | undefined;
}

/** Text of these is no text of the document: what was deleted while changes are recorded, and descriptions of pictures' files. */
const LEFT_OUT = new Set(['tracked-changes', 'note-citation', 'forms', 'scripts', 'event-listeners', 'desc']);

export class OdfText implements XmlHandler {
  title: string | undefined;
  /** Slides or sheets so far. */
  nPages = 0;
  readonly #kind: OdfKind;
  readonly #blocks: BlockList;
  readonly #pages: PageCounter;
  readonly #tables: OdfTables;
  readonly #paragraphs: OpenParagraph[] = [];
  readonly #breakStyles = new Set<string>();
  #style = '';
  #nLeftOut = 0;
  #nNotes = 0;
  #isTitleFrame = false;

  constructor(kind: OdfKind, blocks: BlockList, pages: PageCounter) {
    this.#kind = kind;
    this.#blocks = blocks;
    this.#pages = pages;
    this.#tables = new OdfTables(blocks, () => this.#takePlace());
  }

  open(name: string, attributes: XmlAttributes): void {
    if (LEFT_OUT.has(name)) this.#nLeftOut++;
    if (this.#nLeftOut > 0) return;
    if (name === 'p' || name === 'h') this.#openParagraph(name, attributes);
    else if (name === 's') this.#add(' '.repeat(Math.min(100, Number(attributes['text:c'] ?? 1) || 1)));
    else if (name === 'tab') this.#add('\t');
    else if (name === 'line-break') this.#add('\n');
    else if (isNote(name)) this.#nNotes++;
    else if (name === 'page') this.#openSlide();
    else if (name === 'frame') this.#isTitleFrame = attributes['presentation:class'] === 'title';
    else if (name === 'soft-page-break') this.#softBreak();
    else if (name === 'style') this.#style = attributes['style:name'] ?? '';
    else if (name === 'paragraph-properties' && attributes['fo:break-before'] === 'page') this.#breakStyles.add(this.#style);
    else this.#openTablePart(name, attributes);
  }

  text(text: string): void {
    if (this.#nLeftOut === 0) this.#add(text.replace(/\s+/g, ' '));
  }

  close(name: string): void {
    if (LEFT_OUT.has(name)) this.#nLeftOut--;
    if (this.#nLeftOut > 0) return;
    if (name === 'p' || name === 'h') this.#closeParagraph();
    else if (isNote(name)) this.#nNotes--;
    else if (name === 'frame') this.#isTitleFrame = false;
    else this.#tables.close(name);
  }

  #add(text: string): void {
    this.#paragraphs.at(-1)?.text.push(text);
    if (text.trim() !== '') this.#pages.text();
  }

  #openParagraph(name: string, attributes: XmlAttributes): void {
    const isBreak = this.#breakStyles.has(attributes['text:style-name'] ?? '');
    if (isBreak && this.#blocks.blocks.length > 0) this.#pages.pageBreak();
    const level = Number(attributes['text:outline-level'] ?? 1) || 1;
    this.#paragraphs.push({ text: [], level: name === 'h' ? level : undefined });
  }

  #closeParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    if (paragraph === undefined) return;
    const text = paragraph.text.join('');
    if (text.trim() === '') return;
    const isInCell = this.#nNotes === 0 && this.#tables.isInCell;
    if (!isInCell) this.#takePlace();
    if (isInCell) this.#tables.addText(text);
    else if (this.#nNotes > 0) this.#blocks.note(text);
    else if (paragraph.level !== undefined) this.#heading(text, paragraph.level);
    else if (this.#isTitleFrame) this.#heading(text, 2);
    else this.#blocks.paragraph(text);
  }

  #heading(text: string, level: number): void {
    this.title ??= text.trim();
    this.#blocks.heading(text, level);
  }

  /** A page that begins inside a paragraph parts it. */
  #softBreak(): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph !== undefined && this.#nNotes === 0 && !this.#tables.isInCell && paragraph.level === undefined) {
      this.#takePlace();
      this.#blocks.paragraph(paragraph.text.splice(0).join(''));
    }
    this.#pages.mark();
  }

  #takePlace(): void {
    if (this.#kind === 'odt') this.#blocks.place = { page: this.#pages.page };
  }

  #openSlide(): void {
    this.#countPage('slides');
    this.#blocks.place = { slide: this.nPages };
  }

  #openTablePart(name: string, attributes: XmlAttributes): void {
    if (name === 'table' && this.#kind === 'ods' && !this.#tables.isOpen) this.#openSheet(attributes['table:name'] ?? '');
    this.#tables.open(name, attributes);
  }

  #openSheet(name: string): void {
    this.#countPage('sheets');
    this.#blocks.place = { sheet: name.slice(0, 200) };
    this.#blocks.heading(name.slice(0, 200), 1);
  }

  #countPage(what: string): void {
    this.nPages++;
    const { maxPages } = this.#blocks.limits;
    if (this.nPages > maxPages) throw new ExtractionRefusal('too_many_pages', `The document has more than ${maxPages} ${what}.`);
  }
}

function isNote(name: string): boolean {
  return name === 'note' || name === 'annotation' || name === 'notes';
}
