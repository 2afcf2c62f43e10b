import { XML } from './office-package.ts';
import { countPages, type WrittenBlock, type WrittenDocument, type WrittenSheet, type WrittenSlide } from './written-document.ts';
import { escapeXml, type WrittenPart, writeZip } from './zip-writer.ts';

export function writeOdt(
  { title, language, blocks, nPages = countPages(blocks) }: WrittenDocument,
  more: readonly WrittenPart[] = [],
): Buffer {
  const text = blocks.map(writeBlock).join('');
  return writeOdf('text', `<office:text>${text}</office:text>`, { title, language, nPages }, more);
}

export function writeOds(sheets: readonly WrittenSheet[]): Buffer {
  const tables = sheets.map(({ name, rows, comments = {} }) => {
    const lines = rows.map(
      (cells, i) =>
        `<table:table-row>${cells.map((cell, at) => writeCell(cell, comments[cellName(at, i)])).join('')}</table:table-row>`,
    );
    return `<table:table table:name="${escapeXml(name)}">${lines.join('')}${emptyRows}</table:table>`;
  });
  return writeOdf('spreadsheet', `<office:spreadsheet>${tables.join('')}</office:spreadsheet>`, {});
}

export function writeOdp(slides: readonly WrittenSlide[], title?: string): Buffer {
  const pages = slides.map((slide) => {
    const notes =
      slide.notes === undefined
        ? ''
        : `<presentation:notes><draw:frame><draw:text-box>${paragraph(slide.notes)}</draw:text-box></draw:frame></presentation:notes>`;
    const table = slide.table === undefined ? '' : `<draw:frame>${writeTable(slide.table)}</draw:frame>`;
    return `<draw:page><draw:frame presentation:class="title"><draw:text-box>${paragraph(slide.title)}</draw:text-box></draw:frame><draw:frame><draw:text-box>${slide.lines.map(paragraph).join('')}</draw:text-box></draw:frame>${table}${notes}</draw:page>`;
  });
  return writeOdf('presentation', `<office:presentation>${pages.join('')}</office:presentation>`, { title });
}

interface Meta {
  title?: string | undefined;
  language?: string | undefined;
  nPages?: number;
}

function writeOdf(
  kind: string,
  body: string,
  { title = '', language = '', nPages }: Meta,
  more: readonly WrittenPart[] = [],
): Buffer {
  const statistic = nPages === undefined ? '' : `<meta:document-statistic meta:page-count="${nPages}"/>`;
  const styles =
    '<office:automatic-styles><style:style style:name="P1"><style:paragraph-properties fo:break-before="page"/></style:style></office:automatic-styles>';
  return writeZip([
    { name: 'mimetype', data: `application/vnd.oasis.opendocument.${kind}`, stored: true },
    {
      name: 'content.xml',
      data: `${XML}<office:document-content>${styles}<office:body>${body}</office:body></office:document-content>`,
    },
    {
      name: 'meta.xml',
      data: `${XML}<office:document-meta><office:meta><dc:title>${escapeXml(title)}</dc:title><dc:language>${language}</dc:language>${statistic}</office:meta></office:document-meta>`,
    },
    {
      name: 'META-INF/manifest.xml',
      data: `${XML}<manifest:manifest><manifest:file-entry manifest:full-path="content.xml"/></manifest:manifest>`,
    },
    ...more,
  ]);
}

/** A page break is an empty paragraph whose style begins a page. */
function writeBlock(block: WrittenBlock): string {
  switch (block.type) {
    case 'heading':
      return `<text:h text:outline-level="${block.level}">${escapeXml(block.text)}</text:h>`;
    case 'paragraph':
      return paragraph(block.text);
    case 'note':
      return `<text:p><text:note><text:note-citation>1</text:note-citation><text:note-body>${paragraph(block.text)}</text:note-body></text:note></text:p>`;
    case 'table':
      return writeTable(block.rows);
    case 'page-break':
      return '<text:p text:style-name="P1"/>';
  }
}

function writeTable(rows: readonly string[][]): string {
  const lines = rows.map((cells) => `<table:table-row>${cells.map((cell) => writeCell(cell)).join('')}</table:table-row>`);
  return `<table:table>${lines.join('')}</table:table>`;
}

/** What a program writes below the last row of a sheet. */
const emptyRows =
  '<table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>';

function writeCell(cell: string | number | Date, comment?: string): string {
  const note = comment === undefined ? '' : `<office:annotation>${paragraph(comment)}</office:annotation>`;
  if (cell instanceof Date) {
    const iso = cell.toISOString().slice(0, 10);
    return `<table:table-cell office:value-type="date" office:date-value="${iso}">${note}<text:p>${iso.split('-').reverse().join('.')}</text:p></table:table-cell>`;
  }
  return `<table:table-cell>${note}${cell === '' ? '' : paragraph(String(cell))}</table:table-cell>`;
}

function cellName(column: number, row: number): string {
  return `${String.fromCharCode(65 + column)}${row + 1}`;
}

function paragraph(text: string): string {
  return `<text:p>${escapeXml(text)}</text:p>`;
}
