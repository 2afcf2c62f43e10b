/** The rows of one sheet, as they come. */
import type { XmlAttributes, XmlHandler } from '../archive/xml-reader.ts';
import type { TableRows } from '../table-rows.ts';
import type { NumberFormats } from './number-formats.ts';

/** Excel's own limit. */
const MAX_COLUMNS = 16_384;

export class SheetRows implements XmlHandler {
  readonly #rows: TableRows;
  readonly #strings: readonly string[];
  readonly #formats: NumberFormats;
  #cells: string[] = [];
  #column = 0;
  #type = '';
  #style = 0;
  #value: string[] = [];
  #isValue = false;

  constructor(rows: TableRows, strings: readonly string[], formats: NumberFormats) {
    this.#rows = rows;
    this.#strings = strings;
    this.#formats = formats;
  }

  open(name: string, attributes: XmlAttributes): void {
    if (name === 'c') this.#beginCell(attributes);
    else if (name === 'v' || name === 't') this.#isValue = true;
  }

  text(text: string): void {
    if (this.#isValue) this.#value.push(text);
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#isValue = false;
    else if (name === 'c') this.#endCell();
    else if (name === 'row') this.#endRow();
  }

  #beginCell({ r = '', t = 'n', s = '0' }: XmlAttributes): void {
    this.#column = columnOf(r) ?? this.#column + 1;
    this.#type = t;
    this.#style = Number(s);
    this.#value = [];
  }

  #endCell(): void {
    const text = this.#shown(this.#value.join(''));
    if (text !== '' && this.#column <= MAX_COLUMNS) this.#cells[this.#column - 1] = text;
  }

  #shown(value: string): string {
    if (this.#type === 's') return this.#strings[Number(value)] ?? '';
    if (this.#type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
    return this.#type === 'n' && value !== '' ? this.#formats.show(value, this.#style) : value;
  }

  #endRow(): void {
    if (this.#cells.length > 0) this.#rows.add(Array.from(this.#cells, (cell) => cell ?? ''));
    this.#cells = [];
    this.#column = 0;
  }
}

/** From 1: `C7` is in the third. */
function columnOf(reference: string): number | undefined {
  const letters = /^([A-Z]{1,3})\d/.exec(reference)?.[1];
  if (letters === undefined) return undefined;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}
