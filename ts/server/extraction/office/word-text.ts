/** The paragraphs and tables of a Word part: the document itself, or its footnotes, endnotes and comments. */
import type { XmlAttributes, XmlHandler } from '../archive/xml-reader.ts';
import type { BlockList } from '../block-list.ts';
import { TableRows } from '../table-rows.ts';
import type { PageCounter } from './page-counter.ts';
import type { HeadingStyle } from './word-styles.ts';

interface OpenTable {
  rows: TableRows;
  cells: string[];
  cell: string[];
  isHeader: boolean;
}

interface WordTextOptions {
  styles: ReadonlyMap<string, HeadingStyle>;
  /** Counts where the part has pages. */
  pages?: PageCounter;
  /** The part is notes. */
  isNote?: boolean;
}

const MAX_NESTED_TABLES = 16;

export class WordText implements XmlHandler {
  title: string | undefined;
  readonly #blocks: BlockList;
  readonly #options: WordTextOptions;
  readonly #tables: OpenTable[] = [];
  #text: string[] = [];
  #level: number | undefined;
  #isTitle = false;
  #isText = false;
  #nAlternatives = 0;

  constructor(blocks: BlockList, options: WordTextOptions) {
    this.#blocks = blocks;
    this.#options = options;
  }

  open(name: string, attributes: XmlAttributes): void {
    // Drawings stand twice in the file, once for programs that know no newer way (ECMA-376 part 3 section 10.2).
    if (name === 'Fallback') this.#nAlternatives++;
    if (this.#nAlternatives > 0) return;
    if (name === 't') this.#isText = true;
    else if (name === 'p') this.#beginParagraph();
    else if (name === 'tab') this.#text.push('\t');
    else if (name === 'br' || name === 'cr') this.#break(attributes);
    else if (name === 'noBreakHyphen') this.#text.push('-');
    else if (name === 'lastRenderedPageBreak') this.#markPage();
    else if (name === 'pStyle') this.#style(attributes['w:val'] ?? '');
    else if (name === 'outlineLvl') this.#outline(attributes['w:val'] ?? '');
    else if (name === 'pageBreakBefore' && isOn(attributes['w:val'])) this.#options.pages?.pageBreak();
    else this.#openTablePart(name);
  }

  text(text: string): void {
    if (!this.#isText || this.#nAlternatives > 0) return;
    this.#text.push(text);
    this.#options.pages?.text();
  }

  close(name: string): void {
    if (name === 'Fallback') this.#nAlternatives--;
    if (this.#nAlternatives > 0) return;
    if (name === 't') this.#isText = false;
    else if (name === 'p') this.#endParagraph();
    else this.#closeTablePart(name);
  }

  #beginParagraph(): void {
    this.#endParagraph();
    this.#level = undefined;
    this.#isTitle = false;
  }

  #style(id: string): void {
    const style = this.#options.styles.get(id);
    this.#level ??= style?.level;
    this.#isTitle ||= style?.isTitle === true;
  }

  #outline(value: string): void {
    if (/^[0-8]$/.test(value)) this.#level = Number(value) + 1;
  }

  /** A paragraph goes on behind a page break; what stands before belongs to the page before. */
  #break(attributes: XmlAttributes): void {
    if (attributes['w:type'] !== 'page') {
      this.#text.push('\n');
      return;
    }
    this.#endParagraph();
    this.#options.pages?.pageBreak();
  }

  #markPage(): void {
    if (this.#tables.length === 0 && this.#level === undefined) this.#endParagraph();
    this.#options.pages?.mark();
  }

  #endParagraph(): void {
    const text = this.#text.join('');
    this.#text = [];
    if (text.trim() === '') return;
    const table = this.#tables.at(-1);
    const { pages, isNote } = this.#options;
    if (table !== undefined) table.cell.push(text);
    else {
      if (pages !== undefined) this.#blocks.place = { page: pages.page };
      if (isNote) this.#blocks.note(text);
      else if (this.#level !== undefined) this.#blocks.heading(text, this.#level);
      else this.#blocks.paragraph(text);
      if (this.#isTitle) this.title ??= text.trim();
    }
  }

  #openTablePart(name: string): void {
    if (name === 'tbl' && this.#tables.length < MAX_NESTED_TABLES)
      this.#tables.push({ rows: new TableRows(this.#blocks), cells: [], cell: [], isHeader: false });
    const table = this.#tables.at(-1);
    if (table !== undefined && name === 'tblHeader') table.isHeader = true;
  }

  /** A table within a cell is text of that cell. */
  #closeTablePart(name: string): void {
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    if (name === 'tc') table.cells.push(table.cell.splice(0).join(' '));
    else if (name === 'tr') this.#endRow(table);
    else if (name === 'tbl') {
      this.#tables.pop();
      if (this.#tables.length === 0) table.rows.end();
    }
  }

  #endRow(table: OpenTable): void {
    const cells = table.cells.splice(0);
    const outer = this.#tables.at(-2);
    const { pages } = this.#options;
    if (pages !== undefined) this.#blocks.place = { page: pages.page };
    if (outer !== undefined) outer.cell.push(cells.join(' | '));
    else if (cells.length === 1) this.#blocks.paragraph(cells[0] ?? '');
    else table.rows.add(cells, table.isHeader);
    table.isHeader = false;
  }
}

/** Switches of Word are on where they say nothing. */
function isOn(value: string | undefined): boolean {
  return value === undefined || !/^(?:0|false|off)$/.test(value);
}
