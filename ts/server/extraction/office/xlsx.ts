/** Workbooks (.xlsx, and .xlsm without its macros): each sheet's rows with the names of their columns, dates as dates, comments as notes. */
import type { BlockList } from '../block-list.ts';
import type { ExtractedDocument } from '../extracted-document.ts';
import type { ExtractionLimits } from '../extraction-limits.ts';
import { ExtractionRefusal } from '../extraction-refusal.ts';
import { TableRows } from '../table-rows.ts';
import { readProperties } from './document-properties.ts';
import { NumberFormats } from './number-formats.ts';
import type { PackageParts } from './package-parts.ts';
import { SheetRows } from './sheet-rows.ts';

interface Sheet {
  name: string;
  id: string;
}

export async function readXlsx(
  parts: PackageParts,
  main: string,
  blocks: BlockList,
): Promise<Omit<ExtractedDocument, 'blocks' | 'warnings'>> {
  const related = await parts.relationships(main);
  const targetOf = (type: string) => related.find((each) => each.type === type)?.target;
  const { sheets, is1904 } = await readWorkbook(parts, main);
  const { maxPages } = blocks.limits;
  if (sheets.length > maxPages)
    throw new ExtractionRefusal('too_many_pages', `The workbook has ${sheets.length} sheets, and at most ${maxPages} are read.`);
  const strings = await readSharedStrings(parts, targetOf('sharedStrings'), blocks.limits);
  const formats = await NumberFormats.read(parts, targetOf('styles'), is1904);
  for (const { name, id } of sheets) {
    const part = related.find((each) => each.id === id && each.type === 'worksheet')?.target;
    if (part === undefined) continue;
    blocks.place = { sheet: name };
    blocks.heading(name, 1);
    const rows = new TableRows(blocks);
    await parts.read(part, new SheetRows(rows, strings, formats));
    rows.end();
    await readComments(parts, part, blocks);
  }
  const { nPages: _, ...properties } = await readProperties(parts);
  return { kind: 'xlsx', ...properties, pages: sheets.length };
}

async function readWorkbook(parts: PackageParts, main: string): Promise<{ sheets: Sheet[]; is1904: boolean }> {
  const sheets: Sheet[] = [];
  let is1904 = false;
  await parts.read(main, {
    open: (element, attributes) => {
      if (element === 'sheet') sheets.push({ name: (attributes['name'] ?? '').slice(0, 200), id: attributes['r:id'] ?? '' });
      else if (element === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '');
    },
  });
  return { sheets, is1904 };
}

async function readComments(parts: PackageParts, sheet: string, blocks: BlockList): Promise<void> {
  const comments = (await parts.relationships(sheet)).find(({ type }) => type === 'comments')?.target;
  let place = '';
  let pieces: string[] = [];
  let isText = false;
  await parts.readOptional(comments, {
    open: (element, attributes) => {
      if (element === 'comment') place = attributes['ref'] ?? '';
      else if (element === 't') isText = true;
    },
    text: (text) => {
      if (isText) pieces.push(text);
    },
    close: (element) => {
      if (element === 't') isText = false;
      if (element !== 'comment') return;
      blocks.note(`${place}: ${pieces.join('')}`);
      pieces = [];
    },
  });
}

/** The texts that the cells of a workbook share. Readings of Japanese words (`rPh`) are left out. */
async function readSharedStrings(parts: PackageParts, name: string | undefined, limits: ExtractionLimits): Promise<string[]> {
  const strings: string[] = [];
  let pieces: string[] = [];
  let nReadings = 0;
  let isText = false;
  let length = 0;
  await parts.readOptional(name, {
    open: (element) => {
      if (element === 'rPh') nReadings++;
      else if (element === 't') isText = true;
    },
    text: (text) => {
      if (!isText || nReadings > 0) return;
      pieces.push(text);
      length += text.length;
      if (length > limits.maxTextLength)
        throw new ExtractionRefusal('too_much_text', `The workbook has more than ${limits.maxTextLength} characters.`);
    },
    close: (element) => {
      if (element === 'rPh') nReadings--;
      else if (element === 't') isText = false;
      else if (element === 'si') strings.push(pieces.splice(0).join(''));
    },
  });
  pieces = [];
  return strings;
}
