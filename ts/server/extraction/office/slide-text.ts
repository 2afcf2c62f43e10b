/** The texts of one slide, or of its notes. */
import type { XmlAttributes, XmlHandler } from '../archive/xml-reader.ts';
import type { BlockList } from '../block-list.ts';
import { TableRows } from '../table-rows.ts';

/** What stands on every slide and says nothing of it: dates, footers, numbers, and on notes the slide's picture. */
const LEFT_OUT = new Set(['dt', 'ftr', 'sldNum', 'hdr', 'sldImg']);
const TITLES = new Set(['title', 'ctrTitle']);

export class SlideText implements XmlHandler {
  title: string | undefined;
  readonly #blocks: BlockList;
  readonly #isNotes: boolean;
  readonly #table: TableRows;
  #placeholder = '';
  #paragraph: string[] = [];
  #shape: string[] = [];
  #cells: string[] = [];
  #isText = false;
  #isInTable = false;
  #nAlternatives = 0;

  constructor(blocks: BlockList, isNotes: boolean) {
    this.#blocks = blocks;
    this.#isNotes = isNotes;
    this.#table = new TableRows(blocks);
  }

  open(name: string, attributes: XmlAttributes): void {
    if (name === 'Fallback') this.#nAlternatives++;
    if (this.#nAlternatives > 0) return;
    if (name === 't') this.#isText = true;
    else if (name === 'br') this.#paragraph.push('\n');
    else if (name === 'ph') this.#placeholder = attributes['type'] ?? 'body';
    else if (name === 'sp' || name === 'graphicFrame') this.#beginShape();
    else if (name === 'tbl') this.#isInTable = true;
  }

  text(text: string): void {
    if (this.#isText && this.#nAlternatives === 0) this.#paragraph.push(text);
  }

  close(name: string): void {
    if (name === 'Fallback') this.#nAlternatives--;
    if (this.#nAlternatives > 0) return;
    if (name === 't') this.#isText = false;
    else if (name === 'p') this.#endParagraph();
    else if (name === 'tc') this.#cells.push(this.#shape.splice(0).join(' '));
    else if (name === 'tr') this.#table.add(this.#cells.splice(0));
    else if (name === 'tbl') this.#endTable();
    else if (name === 'sp') this.#endShape();
  }

  #beginShape(): void {
    this.#placeholder = '';
    this.#shape = [];
  }

  #endParagraph(): void {
    const text = this.#paragraph.splice(0).join('');
    if (text.trim() !== '') this.#shape.push(text);
  }

  #endTable(): void {
    this.#table.end();
    this.#isInTable = false;
  }

  #endShape(): void {
    const lines = this.#shape.splice(0);
    if (this.#isInTable || lines.length === 0 || LEFT_OUT.has(this.#placeholder)) return;
    if (this.#isNotes) this.#blocks.note(lines.join('\n'));
    else if (TITLES.has(this.#placeholder)) this.#heading(lines.join(' '));
    else for (const line of lines) this.#blocks.paragraph(line);
  }

  #heading(text: string): void {
    this.title ??= text.trim();
    this.#blocks.heading(text, 2);
  }
}
