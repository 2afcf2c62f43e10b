/** E-books (EPUB 2 and 3): the chapters of the spine, in its order, as the web pages that they are. */
import { posix } from 'node:path';
import type { ZipArchive } from '../archive/zip-archive.ts';
import type { BlockList } from '../block-list.ts';
import type { ExtractedDocument } from '../extracted-document.ts';
import { damaged, ExtractionRefusal } from '../extraction-refusal.ts';
import { declaredCharset } from '../html/html-charset.ts';
import { HtmlReader } from '../html/html-reader.ts';
import { decodeText } from '../text/charset.ts';
import { propertiesOf } from './document-properties.ts';
import { PackageParts } from './package-parts.ts';

const MAX_CHAPTER_BYTES = 32 * 1024 * 1024;

interface Book {
  chapters: string[];
  title: string;
  language: string;
}

export async function readEpub(archive: ZipArchive, blocks: BlockList): Promise<Omit<ExtractedDocument, 'blocks' | 'warnings'>> {
  const parts = new PackageParts(archive, blocks.limits);
  const { chapters, title, language } = await readBook(parts, await findPackage(parts));
  const { maxPages } = blocks.limits;
  if (chapters.length > maxPages)
    throw new ExtractionRefusal('too_many_pages', `The book has ${chapters.length} chapters, and at most ${maxPages} are read.`);
  const encrypted = await listEncrypted(parts);
  if (chapters.some((name) => encrypted.has(name)))
    throw new ExtractionRefusal('encrypted_document', 'The book is protected against copying.');
  for (const name of chapters) {
    if (!archive.has(name)) {
      blocks.warn('A chapter of the book is missing in the file.');
      continue;
    }
    const bytes = await archive.bytes(name, MAX_CHAPTER_BYTES);
    new HtmlReader(blocks).read(decodeText(bytes, declaredCharset(bytes)));
  }
  return { kind: 'epub', ...propertiesOf(title, language) };
}

async function findPackage(parts: PackageParts): Promise<string> {
  let path = '';
  await parts.read('META-INF/container.xml', {
    open: (name, attributes) => {
      if (name === 'rootfile' && path === '') path = attributes['full-path'] ?? '';
    },
  });
  if (path === '') throw damaged('The book does not say which part describes it.');
  return path;
}

async function readBook(parts: PackageParts, path: string): Promise<Book> {
  const folder = posix.dirname(path);
  const items = new Map<string, string>();
  const spine: string[] = [];
  const texts = new Map<string, string>();
  let element = '';
  await parts.read(path, {
    open: (name, attributes) => {
      element = name;
      const { id = '', href = '', idref = '' } = attributes;
      if (name === 'item' && !/^[a-z][a-z0-9+.-]*:/i.test(href)) items.set(id, posix.join(folder, decodePath(href)));
      else if (name === 'itemref') spine.push(idref);
    },
    text: (text) => {
      if ((element === 'title' || element === 'language') && !texts.has(element)) texts.set(element, text.trim().slice(0, 1000));
    },
    close: () => {
      element = '';
    },
  });
  const chapters = spine.map((id) => items.get(id)).filter((name) => name !== undefined);
  return { chapters, title: texts.get('title') ?? '', language: texts.get('language') ?? '' };
}

/** Fonts may be obfuscated in any book; chapters only where it is protected. */
async function listEncrypted(parts: PackageParts): Promise<Set<string>> {
  const names = new Set<string>();
  await parts.readOptional('META-INF/encryption.xml', {
    open: (name, attributes) => {
      if (name === 'CipherReference') names.add(decodePath(attributes['URI'] ?? ''));
    },
  });
  return names;
}

function decodePath(href: string): string {
  try {
    return decodeURIComponent(href.split('#')[0] ?? '');
  } catch {
    return href;
  }
}
