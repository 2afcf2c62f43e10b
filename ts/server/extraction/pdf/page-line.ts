/** One line of a page: text, or the cells of a table's row. */
export interface PageLine {
  page: number;
  y: number;
  size: number;
  /** Cells from left to right; a line of text has one. */
  cells: string[];
  /** Begins another group of the reading order: a column, a band. */
  isFirst: boolean;
}
