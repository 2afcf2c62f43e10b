/** PDF files with a text layer. Drawings and pictures are never rendered, and scripts and forms are not run. */

import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { BlockList } from '../block-list.ts';
import type { ExtractedDocument } from '../extracted-document.ts';
import { MIN_TEXT_LENGTH } from '../extraction-limits.ts';
import { damaged, ExtractionRefusal } from '../extraction-refusal.ts';
import { HeadingSizes } from './heading-sizes.ts';
import { LineBlocks } from './line-blocks.ts';
import type { PageLine } from './page-line.ts';
import { linesOfPage } from './page-lines.ts';
import { readPageText } from './page-text.ts';

type Head = Omit<ExtractedDocument, 'blocks' | 'warnings'>;

/** @param bytes are the library's afterwards. */
export async function readPdf(bytes: Uint8Array, blocks: BlockList): Promise<Head> {
  const hasPictures = namesPictures(bytes);
  const library = await loadPdfLibrary();
  const task = library.getDocument({
    data: new Uint8Array(bytes),
    ...dataFolders(),
    useSystemFonts: false,
    disableFontFace: true,
    enableXfa: false,
    useWasm: false,
    verbosity: library.VerbosityLevel.ERRORS - 1,
  });
  try {
    const document = await task.promise;
    return await readDocument(document, blocks, hasPictures);
  } catch (error) {
    throw toRefusal(error, library);
  } finally {
    // A document that is damaged enough cannot even be closed.
    await task.destroy().catch(() => {});
  }
}

async function readDocument(document: PDFDocumentProxy, blocks: BlockList, hasPictures: boolean): Promise<Head> {
  const { info } = (await document.getMetadata()) as {
    info: { EncryptFilterName?: string | null; Title?: unknown; Language?: unknown };
  };
  if (info.EncryptFilterName) throw encrypted();
  const { maxPages } = blocks.limits;
  if (document.numPages > maxPages)
    throw new ExtractionRefusal('too_many_pages', `The PDF has ${document.numPages} pages, and at most ${maxPages} are read.`);
  const pages = await readPages(document, blocks);
  const textLength = pages.flat().reduce((sum, { cells }) => sum + cells.join('').length, 0);
  if (textLength === 0 || (textLength < MIN_TEXT_LENGTH && hasPictures))
    throw new ExtractionRefusal('scanned_pdf', 'The PDF has no text layer: its pages are pictures, or empty.');
  warnOfPictures(pages, blocks);
  writeBlocks(withoutRunningLines(pages), blocks);
  return { kind: 'pdf', ...textOf('title', info.Title), ...textOf('language', info.Language), pages: document.numPages };
}

async function readPages(document: PDFDocumentProxy, blocks: BlockList): Promise<PageLine[][]> {
  const pages: PageLine[][] = [];
  let length = 0;
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    const lines = linesOfPage(await readPageText(page), number);
    page.cleanup();
    length += lines.reduce((sum, { cells }) => sum + cells.join('').length, 0);
    if (length > blocks.limits.maxTextLength)
      throw new ExtractionRefusal('too_much_text', `The PDF has more than ${blocks.limits.maxTextLength} characters.`);
    pages.push(lines);
  }
  return pages;
}

function writeBlocks(pages: readonly PageLine[][], blocks: BlockList): void {
  const writer = new LineBlocks(blocks, new HeadingSizes(pages.flat()));
  for (const lines of pages) {
    for (const line of lines) writer.add(line);
    writer.endPage();
  }
  blocks.place = {};
}

function warnOfPictures(pages: readonly PageLine[][], blocks: BlockList): void {
  const empty = pages.map((lines, i) => (lines.length === 0 ? i + 1 : 0)).filter((number) => number > 0);
  if (empty.length === 0) return;
  const shown = empty.slice(0, 10).join(', ') + (empty.length > 10 ? ' and others' : '');
  blocks.warn(`${empty.length} of ${pages.length} pages have no text layer and are not indexed: ${shown}.`);
}

/** Pictures are streams of their own, and a stream's dictionary is never packed (ISO 32000-1 section 7.5.7). */
function namesPictures(bytes: Uint8Array): boolean {
  return /\/Subtype\s*\/Image\b/.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'));
}

function toRefusal(error: unknown, library: PdfLibrary): ExtractionRefusal {
  if (error instanceof ExtractionRefusal) return error;
  if (error instanceof library.PasswordException) return encrypted();
  return damaged('The PDF is damaged and cannot be read.', error);
}

function encrypted(): ExtractionRefusal {
  return new ExtractionRefusal('encrypted_pdf', 'The PDF is encrypted.');
}

function textOf<Name extends string>(name: Name, value: unknown): Partial<Record<Name, string>> {
  const text = typeof value === 'string' ? value.replace(/\s+/g, ' ').trim().slice(0, 1000) : '';
  return text === '' ? {} : ({ [name]: text } as Record<Name, string>);
}

/** Headers and footers that stand on most pages: they part sentences that go on over a page, and would be found for every page. */
const MIN_PAGES = 4;
const MIN_SHARE = 0.6;
/** Lines at either end of a page that are looked at. */
const N_OUTER = 2;

function withoutRunningLines(pages: readonly PageLine[][]): PageLine[][] {
  if (pages.length < MIN_PAGES) return [...pages];
  const counts = new Map<string, number>();
  for (const lines of pages) for (const key of new Set(outerLines(lines).map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1);
  const isRunning = (line: PageLine) => (counts.get(keyOf(line)) ?? 0) >= pages.length * MIN_SHARE;
  return pages.map((lines) => {
    const running = new Set(outerLines(lines).filter(isRunning));
    // A page of nothing else keeps them: they may be its text.
    return running.size === lines.length ? lines : lines.filter((line) => !running.has(line));
  });
}

function outerLines(lines: readonly PageLine[]): PageLine[] {
  const sorted = [...lines].sort((p, q) => p.y - q.y);
  return [...sorted.slice(0, N_OUTER), ...sorted.slice(-N_OUTER)];
}

/** Page numbers differ from page to page; place and words do not. */
function keyOf({ y, cells }: PageLine): string {
  return `${Math.round(y / 4)} ${cells.join(' ').replace(/\d+/g, '#').slice(0, 200)}`;
}

/**
 * pdf.js as far as reading text needs it. On Node it would load a native canvas to draw pages; a reader of untrusted files has no use for one,
 * so that request is answered with nothing. The library runs in the thread that loads it.
 */
type PdfLibrary = typeof import('pdfjs-dist/legacy/build/pdf.mjs');

let loaded: Promise<PdfLibrary> | undefined;

function loadPdfLibrary(): Promise<PdfLibrary> {
  loaded ??= load();
  return loaded;
}

/** Folders with the tables of Asian encodings and with the standard fonts' metrics. They end in a separator, as the library wants them. */
function dataFolders(): { cMapUrl: string; standardFontDataUrl: string } {
  const root = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  return { cMapUrl: join(root, 'cmaps') + sep, standardFontDataUrl: join(root, 'standard_fonts') + sep };
}

async function load(): Promise<PdfLibrary> {
  const realGet = process.getBuiltinModule;
  const noCanvas = { createRequire: () => () => ({}) };
  const withoutCanvas = (id: string) => (id === 'module' ? noCanvas : realGet.call(process, id));
  for (const name of ['DOMMatrix', 'Path2D'])
    if (!Object.hasOwn(globalThis, name)) Object.assign(globalThis, { [name]: class {} });
  process.getBuiltinModule = withoutCanvas as typeof realGet;
  try {
    return await import('pdfjs-dist/legacy/build/pdf.mjs');
  } finally {
    process.getBuiltinModule = realGet;
  }
}
