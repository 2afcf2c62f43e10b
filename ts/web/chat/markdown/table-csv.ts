/** A table as comma-separated values. */
import { csvOfRows } from '../../design/csv.ts';

export function csvOf(table: HTMLTableElement): string {
  return csvOfRows([...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent ?? '')));
}
