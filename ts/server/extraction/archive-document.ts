/** Documents that are ZIP files. The parts inside decide which kind it is. */
import { ZipArchive } from './archive/zip-archive.ts';
import type { BlockList } from './block-list.ts';
import type { ExtractedDocument } from './extracted-document.ts';
import { ExtractionRefusal } from './extraction-refusal.ts';
import { readDocx } from './office/docx.ts';
import { readEpub } from './office/epub.ts';
import { readOdf } from './office/odf.ts';
import { PackageParts } from './office/package-parts.ts';
import { readPptx } from './office/pptx.ts';
import { readXlsx } from './office/xlsx.ts';
import type { RandomAccess } from './random-access.ts';

type Head = Omit<ExtractedDocument, 'blocks' | 'warnings'>;

const MAX_TYPE_BYTES = 256;

const openDocuments: Readonly<Record<string, 'odt' | 'ods' | 'odp'>> = { text: 'odt', spreadsheet: 'ods', presentation: 'odp' };

export async function readArchiveDocument(source: RandomAccess, blocks: BlockList): Promise<Head> {
  const archive = new ZipArchive(source, blocks.limits);
  if (archive.has('mimetype')) {
    const type = new TextDecoder().decode(await archive.bytes('mimetype', MAX_TYPE_BYTES)).trim();
    const kind = openDocuments[/^application\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation)/.exec(type)?.[1] ?? ''];
    if (kind !== undefined) return await readOdf(archive, kind, blocks);
    if (type === 'application/epub+zip') return await readEpub(archive, blocks);
  }
  const parts = new PackageParts(archive, blocks.limits);
  if (parts.has('[Content_Types].xml')) return await readOfficeDocument(parts, blocks);
  throw new ExtractionRefusal('unsupported_file_kind', 'The file is an archive and no document.');
}

async function readOfficeDocument(parts: PackageParts, blocks: BlockList): Promise<Head> {
  const main = (await parts.relationships('')).find(({ type }) => type === 'officeDocument')?.target;
  const type = main === undefined ? '' : await contentTypeOf(parts, main);
  if (main !== undefined && /wordprocessingml|ms-word\.(?:document|template)/i.test(type))
    return await readDocx(parts, main, blocks);
  if (main !== undefined && /spreadsheetml|ms-excel\.(?:sheet|template)\.macro/i.test(type))
    return await readXlsx(parts, main, blocks);
  if (main !== undefined && /presentationml|ms-powerpoint/i.test(type)) return await readPptx(parts, main, blocks);
  throw new ExtractionRefusal('unsupported_file_kind', 'The file is of an office program and of no kind that can be read.');
}

async function contentTypeOf(parts: PackageParts, part: string): Promise<string> {
  let own = '';
  let byExtension = '';
  await parts.read('[Content_Types].xml', {
    open: (name, { PartName = '', Extension = '', ContentType = '' }) => {
      if (name === 'Override' && PartName.toLowerCase() === `/${part.toLowerCase()}`) own = ContentType;
      else if (name === 'Default' && part.toLowerCase().endsWith(`.${Extension.toLowerCase()}`)) byExtension = ContentType;
    },
  });
  return own || byExtension;
}
