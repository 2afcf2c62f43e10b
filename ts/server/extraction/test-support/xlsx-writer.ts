import { relationships, writePackage, XML } from './office-package.ts';
import type { WrittenSheet } from './written-document.ts';
import { escapeXml, type WrittenPart } from './zip-writer.ts';

const DAY_MS = 86_400_000;

export function writeXlsx(sheets: readonly WrittenSheet[], more: readonly WrittenPart[] = []): Buffer {
  const strings = [...new Set(sheets.flatMap(({ rows }) => rows.flat().filter((cell) => typeof cell === 'string')))];
  const list = sheets.map(({ name }, i) => `<sheet name="${escapeXml(name)}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`);
  const items = strings.map((text) => `<si><t xml:space="preserve">${escapeXml(text)}</t></si>`);
  return writePackage(
    { main: 'xl/workbook.xml', contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml' },
    [
      { name: 'xl/workbook.xml', data: `${XML}<workbook xmlns:r="r"><sheets>${list.join('')}</sheets></workbook>` },
      {
        name: 'xl/_rels/workbook.xml.rels',
        data: relationships([
          ...sheets.map((_, i) => [`rId${i + 1}`, 'worksheet', `worksheets/sheet${i + 1}.xml`] as const),
          ['rIdStrings', 'sharedStrings', 'sharedStrings.xml'],
          ['rIdStyles', 'styles', 'styles.xml'],
        ]),
      },
      { name: 'xl/sharedStrings.xml', data: `${XML}<sst>${items.join('')}</sst>` },
      {
        name: 'xl/styles.xml',
        data: `${XML}<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>`,
      },
      ...sheets.flatMap((sheet, i) => sheetParts(sheet, i + 1, strings)),
      ...more,
    ],
  );
}

function sheetParts({ rows, comments }: WrittenSheet, number: number, strings: readonly string[]): WrittenPart[] {
  const lines = rows.map(
    (cells, i) => `<row r="${i + 1}">${cells.map((cell, at) => writeCell(cell, at, i + 1, strings)).join('')}</row>`,
  );
  const sheet = {
    name: `xl/worksheets/sheet${number}.xml`,
    data: `${XML}<worksheet><sheetData>${lines.join('')}</sheetData></worksheet>`,
  };
  if (comments === undefined) return [sheet];
  const written = Object.entries(comments).map(
    ([ref, text]) => `<comment ref="${ref}"><text><r><t>${escapeXml(text)}</t></r></text></comment>`,
  );
  return [
    sheet,
    {
      name: `xl/worksheets/_rels/sheet${number}.xml.rels`,
      data: relationships([['rId1', 'comments', `../comments${number}.xml`]]),
    },
    { name: `xl/comments${number}.xml`, data: `${XML}<comments><commentList>${written.join('')}</commentList></comments>` },
  ];
}

/** Empty cells are left out, as programs leave them out. */
function writeCell(cell: string | number | Date, column: number, row: number, strings: readonly string[]): string {
  const reference = `${columnName(column)}${row}`;
  if (cell === '') return '';
  if (typeof cell === 'string') return `<c r="${reference}" t="s"><v>${strings.indexOf(cell)}</v></c>`;
  if (typeof cell === 'number') return `<c r="${reference}"><v>${cell}</v></c>`;
  return `<c r="${reference}" s="1"><v>${(cell.getTime() - Date.UTC(1899, 11, 30)) / DAY_MS}</v></c>`;
}

function columnName(index: number): string {
  return index < 26 ? String.fromCharCode(65 + index) : columnName(Math.floor(index / 26) - 1) + columnName(index % 26);
}
