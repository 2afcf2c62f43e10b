/** The tables of a page, one inside another where a page nests them. A table of one column only places things, and its text is no table. */
import type { BlockList } from '../block-list.ts';
import { TableRows } from '../table-rows.ts';

interface OpenTable {
  rows: TableRows;
  cells: string[];
  text: string[];
  nHeaderCells: number;
  isInCell: boolean;
}

const MAX_NESTING = 8;

export class HtmlTables {
  readonly #blocks: BlockList;
  readonly #open: OpenTable[] = [];
  /** Tables inside of too many others are text of the cell that they stand in. */
  #nIgnored = 0;

  constructor(blocks: BlockList) {
    this.#blocks = blocks;
  }

  get isInCell(): boolean {
    return this.#open.at(-1)?.isInCell === true;
  }

  open(): void {
    if (this.#open.length >= MAX_NESTING) this.#nIgnored++;
    else this.#open.push({ rows: new TableRows(this.#blocks), cells: [], text: [], nHeaderCells: 0, isInCell: false });
  }

  close(): void {
    if (this.#nIgnored > 0) {
      this.#nIgnored--;
      return;
    }
    this.closeRow();
    this.#open.pop()?.rows.end();
  }

  openRow(): void {
    this.closeRow();
  }

  closeRow(): void {
    const table = this.#open.at(-1);
    if (table === undefined || this.#nIgnored > 0) return;
    this.closeCell();
    const { cells, rows, nHeaderCells } = table;
    table.cells = [];
    table.nHeaderCells = 0;
    if (cells.length === 1) this.#blocks.paragraph(cells[0] ?? '');
    else rows.add(cells, nHeaderCells === cells.length && cells.length > 1);
  }

  openCell(isHeader: boolean): void {
    const table = this.#open.at(-1);
    if (table === undefined || this.#nIgnored > 0) return;
    this.closeCell();
    table.isInCell = true;
    if (isHeader) table.nHeaderCells++;
  }

  closeCell(): void {
    const table = this.#open.at(-1);
    if (table?.isInCell !== true || this.#nIgnored > 0) return;
    table.cells.push(table.text.join(' '));
    table.text = [];
    table.isInCell = false;
  }

  addText(text: string): void {
    this.#open.at(-1)?.text.push(text);
  }

  /** Closes what the page left open. */
  end(): void {
    this.#nIgnored = 0;
    while (this.#open.length > 0) this.close();
  }
}
