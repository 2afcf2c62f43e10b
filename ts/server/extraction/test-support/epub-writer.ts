import { XML } from './office-package.ts';
import { escapeXml, type WrittenPart, writeZip } from './zip-writer.ts';

interface WrittenBook {
  title: string;
  language: string;
  /** Bodies of the chapters, as HTML. */
  chapters: string[];
}

/** Chapters' files are numbered backwards: their order is that of the spine. */
export function writeEpub({ title, language, chapters }: WrittenBook, more: readonly WrittenPart[] = []): Buffer {
  const fileOf = (i: number) => `chapter ${chapters.length - i}.xhtml`;
  const items = chapters.map(
    (_, i) => `<item id="c${i}" href="${encodeURIComponent(fileOf(i))}" media-type="application/xhtml+xml"/>`,
  );
  const spine = chapters.map((_, i) => `<itemref idref="c${i}"/>`);
  return writeZip([
    { name: 'mimetype', data: 'application/epub+zip', stored: true },
    {
      name: 'META-INF/container.xml',
      data: `${XML}<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
    },
    {
      name: 'OEBPS/book.opf',
      data: `${XML}<package><metadata><dc:title>${escapeXml(title)}</dc:title><dc:language>${language}</dc:language></metadata><manifest>${items.join('')}</manifest><spine>${spine.join('')}</spine></package>`,
    },
    ...chapters.map((body, i) => ({
      name: `OEBPS/${fileOf(i)}`,
      data: `${XML}<!DOCTYPE html>\n<html><head><title>x</title></head><body>${body}</body></html>`,
    })),
    ...more,
  ]);
}
