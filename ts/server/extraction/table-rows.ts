/**
 * Writes a table's rows as text, one block a row. Where the first row names the columns, each value follows its column's name: a passage that
 * holds only the hundredth row can still be understood.
 */
import { type BlockList, oneLine } from './block-list.ts';

const MAX_NAME_LENGTH = 60;

export class TableRows {
  readonly #blocks: BlockList;
  #names: string[] | undefined;
  #first: { cells: string[]; isHeader: boolean } | undefined;
  #isBegun = false;

  constructor(blocks: BlockList) {
    this.#blocks = blocks;
  }

  /** @param isHeader the file itself says that the row names the columns; else the first row is looked at. */
  add(given: readonly string[], isHeader = false): void {
    const cells = given.map(oneLine);
    if (cells.every((cell) => cell === '')) return;
    if (!this.#isBegun) {
      this.#isBegun = true;
      this.#first = { cells, isHeader };
      return;
    }
    this.#openHeader(cells);
    this.#blocks.tableRow(this.#rowText(cells));
  }

  /** The table is over; the next row is the first of another. */
  end(): void {
    if (this.#first !== undefined) this.#blocks.tableRow(joined(this.#first.cells));
    this.#first = undefined;
    this.#names = undefined;
    this.#isBegun = false;
  }

  /** Whether the first row is a header is known once there is a second one. */
  #openHeader(second: readonly string[]): void {
    const first = this.#first;
    if (first === undefined) return;
    this.#first = undefined;
    this.#blocks.tableRow(joined(first.cells));
    if (first.isHeader || namesColumns(first.cells, second)) this.#names = first.cells;
  }

  #rowText(cells: readonly string[]): string {
    const names = this.#names;
    if (names === undefined) return joined(cells);
    return cells
      .map((cell, i) => (cell === '' || !names[i] ? cell : `${names[i]}: ${cell}`))
      .filter((text) => text !== '')
      .join('; ');
  }
}

function joined(cells: readonly string[]): string {
  return cells.filter((cell) => cell !== '').join(' | ');
}

function namesColumns(cells: readonly string[], second: readonly string[]): boolean {
  if (cells.length < 2 || second.length < 2) return false;
  const filled = cells.filter((cell) => cell !== '');
  const areNames = filled.every((cell) => cell.length <= MAX_NAME_LENGTH && /\p{L}/u.test(cell) && !isNumber(cell));
  return areNames && filled.length >= cells.length - 1 && filled.length > 1 && new Set(filled).size === filled.length;
}

function isNumber(cell: string): boolean {
  return /^[-+(]?[\d.,' \u00a0]+(?:\)\s*)?(?:%|\p{Sc}|[A-Za-z]{1,3})?$/u.test(cell);
}
