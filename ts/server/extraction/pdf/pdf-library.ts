/**
 * pdf.js as far as reading text needs it. On Node it would load a native canvas to draw pages; a reader of untrusted files has no use for one,
 * so that request is answered with nothing. The library runs in the thread that loads it.
 */
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';

export type PdfLibrary = typeof import('pdfjs-dist/legacy/build/pdf.mjs');

let loaded: Promise<PdfLibrary> | undefined;

export function loadPdfLibrary(): Promise<PdfLibrary> {
  loaded ??= load();
  return loaded;
}

/** Folders with the tables of Asian encodings and with the standard fonts' metrics. They end in a separator, as the library wants them. */
export function dataFolders(): { cMapUrl: string; standardFontDataUrl: string } {
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
