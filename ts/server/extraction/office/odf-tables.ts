/** Tables of OpenDocument files. Cells and rows that repeat are written once, with a count: sheets end in a million empty rows. */
import type { XmlAttributes } from '../archive/xml-reader.ts';
import type { BlockList } from '../block-list.ts';
import { TableRows } from '../table-rows.ts';

interface OpenTable {
  rows: TableRows;
  cells: string[];
  /** Empty cells behind the last one. */
  nEmpty: number;
  cell: string[];
  nCellRepeats: number;
  nRowRepeats: number;
  isInCell: boolean;
  isHeader: boolean;
}

const MAX_NESTED_TABLES = 16;
const MAX_COLUMNS = 16_384;

export class OdfTables {
  readonly #blocks: BlockList;
  readonly #beforeRow: () => void;
  readonly #open: OpenTable[] = [];
  #nIgnored = 0;

  /** @param beforeRow sets the place of the row that follows. */
  constructor(blocks: BlockList, beforeRow: () => void) {
    this.#blocks = blocks;
    this.#beforeRow = beforeRow;
  }

  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  get isInCell(): boolean {
    return this.#open.at(-1)?.isInCell === true;
  }

  addText(text: string): void {
    this.#open.at(-1)?.cell.push(text);
  }

  open(name: string, attributes: XmlAttributes): void {
    const table = this.#open.at(-1);
    if (name === 'table') this.#openTable();
    else if (table === undefined) return;
    else if (name === 'table-header-rows') table.isHeader = true;
    else if (name === 'table-row') table.nRowRepeats = repeats(attributes['table:number-rows-repeated']);
    else if (name === 'table-cell' || name === 'covered-table-cell') beginCell(table, attributes);
  }

  close(name: string): void {
    const table = this.#open.at(-1);
    if (table === undefined) return;
    if (name === 'table-cell' || name === 'covered-table-cell') endCell(table);
    else if (name === 'table-row') this.#endRow(table);
    else if (name === 'table-header-rows') table.isHeader = false;
    else if (name === 'table') this.#closeTable(table);
  }

  #openTable(): void {
    if (this.#open.length >= MAX_NESTED_TABLES) this.#nIgnored++;
    else {
      const rows = new TableRows(this.#blocks);
      this.#open.push({
        rows,
        cells: [],
        nEmpty: 0,
        cell: [],
        nCellRepeats: 1,
        nRowRepeats: 1,
        isInCell: false,
        isHeader: false,
      });
    }
  }

  #closeTable(table: OpenTable): void {
    if (this.#nIgnored > 0) this.#nIgnored--;
    else {
      this.#open.pop();
      if (this.#open.length === 0) table.rows.end();
    }
  }

  /** A table within a cell is text of that cell. */
  #endRow(table: OpenTable): void {
    const cells = table.cells.splice(0);
    table.nEmpty = 0;
    const outer = this.#open.at(-2);
    if (cells.length === 0) return;
    if (outer !== undefined) {
      outer.cell.push(cells.join(' | '));
      return;
    }
    this.#beforeRow();
    for (let i = 0; i < table.nRowRepeats; i++) table.rows.add(cells, table.isHeader);
  }
}

function beginCell(table: OpenTable, attributes: XmlAttributes): void {
  table.isInCell = true;
  table.nCellRepeats = repeats(attributes['table:number-columns-repeated']);
  // What is shown of a date depends on the author's country.
  const date = attributes['office:date-value'];
  table.cell = date === undefined ? [] : [date.replace('T', ' ').slice(0, 19), ''];
}

/** Empty cells count as soon as another one follows, and those at the end of the row do not. */
function endCell(table: OpenTable): void {
  const isDate = table.cell.length > 1 && table.cell[1] === '';
  const text = isDate ? (table.cell[0] ?? '') : table.cell.join(' ');
  table.cell = [];
  table.isInCell = false;
  if (text.trim() === '') {
    table.nEmpty += table.nCellRepeats;
    return;
  }
  const nCells = table.cells.length + table.nEmpty + table.nCellRepeats;
  if (nCells > MAX_COLUMNS) return;
  for (; table.nEmpty > 0; table.nEmpty--) table.cells.push('');
  for (let i = 0; i < table.nCellRepeats; i++) table.cells.push(text);
}

function repeats(value: string | undefined): number {
  const count = Number(value ?? 1);
  return Number.isSafeInteger(count) && count > 0 ? count : 1;
}
