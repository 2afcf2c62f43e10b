/** OpenDocument files: .odt, .ods, .odp. */
import type { ZipArchive } from '../archive/zip-archive.ts';
import type { BlockList } from '../block-list.ts';
import type { ExtractedDocument } from '../extracted-document.ts';
import { ExtractionRefusal } from '../extraction-refusal.ts';
import { type DocumentProperties, propertiesOf } from './document-properties.ts';
import { type OdfKind, OdfText } from './odf-text.ts';
import { PackageParts } from './package-parts.ts';
import { PageCounter } from './page-counter.ts';

export async function readOdf(
  archive: ZipArchive,
  kind: OdfKind,
  blocks: BlockList,
): Promise<Omit<ExtractedDocument, 'blocks' | 'warnings'>> {
  const parts = new PackageParts(archive, blocks.limits);
  await refuseEncrypted(parts);
  const { nPages, title, language } = await readMeta(parts);
  const pages = new PageCounter();
  const content = new OdfText(kind, blocks, pages);
  await parts.read('content.xml', content);
  const counted = kind === 'odt' ? pages.confirm(blocks.blocks, nPages) : content.nPages;
  const shownTitle = title ?? content.title;
  return {
    kind,
    ...(shownTitle === undefined ? {} : { title: shownTitle }),
    ...(language === undefined ? {} : { language }),
    ...(counted === undefined ? {} : { pages: counted }),
  };
}

/** Parts of a document with a password are encrypted each for itself, inside an ordinary archive. */
async function refuseEncrypted(parts: PackageParts): Promise<void> {
  await parts.readOptional('META-INF/manifest.xml', {
    open: (name) => {
      if (name === 'encryption-data')
        throw new ExtractionRefusal('encrypted_document', 'The document is protected by a password.');
    },
  });
}

async function readMeta(parts: PackageParts): Promise<DocumentProperties> {
  let element = '';
  let pages = '';
  const values = new Map<string, string>();
  await parts.readOptional('meta.xml', {
    open: (name, attributes) => {
      element = name;
      if (name === 'document-statistic') pages = attributes['meta:page-count'] ?? '';
    },
    text: (text) => {
      if (element === 'title' || element === 'language')
        values.set(element, `${values.get(element) ?? ''}${text}`.slice(0, 1000));
    },
    close: () => {
      element = '';
    },
  });
  return propertiesOf(values.get('title'), values.get('language'), pages);
}
