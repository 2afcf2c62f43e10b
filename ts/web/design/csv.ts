/** Rows as comma-separated values (RFC 4180). A cell that a spreadsheet would take for a formula gets an apostrophe. */
export function csvOfRows(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => row.map((cell) => quoteCell(String(cell))).join(',')).join('\r\n');
}

function quoteCell(text: string): string {
  const isFormula = /^[=@\t\r]|^[+-](?!\d+([.,]\d+)?$)/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
