/** From a file to its blocks. Pure: it imports nothing of the server, since it runs in a thread of its own (`ts/workers/extract-document.ts`). */
import { readArchiveDocument } from './archive-document.ts';
import { BlockList } from './block-list.ts';
import type { ExtractedDocument } from './extracted-document.ts';
import { DEFAULT_LIMITS, type ExtractionLimits, MIN_TEXT_LENGTH } from './extraction-limits.ts';
import { ExtractionRefusal } from './extraction-refusal.ts';
import { type ExtractionResult, STORED_DETAILS } from './extraction-result.ts';
import { fileKindOf, HEAD_BYTES } from './file-kind.ts';
import { compoundFileRefusal } from './office/compound-file.ts';
import { readPdf } from './pdf/pdf-reader.ts';
import { type RandomAccess, readWhole } from './random-access.ts';
import { readText } from './text/text-reader.ts';

export interface ExtractOptions {
  /** Tells apart kinds of text that look alike; it never decides more, and is never a path. */
  fileName?: string | undefined;
  limits?: Partial<ExtractionLimits> | undefined;
}

type Head = Omit<ExtractedDocument, 'blocks' | 'warnings'>;

/** Throws only for defects of the program; a file that is not taken is a result. */
export async function extract(source: RandomAccess, options: ExtractOptions = {}): Promise<ExtractionResult> {
  try {
    return await read(source, options);
  } catch (error) {
    if (!(error instanceof ExtractionRefusal)) throw error;
    return { outcome: 'refused', code: error.code, detail: error.message, remedy: error.remedy };
  }
}

async function read(source: RandomAccess, { fileName, limits }: ExtractOptions): Promise<ExtractionResult> {
  const found = fileKindOf(source.read(0, HEAD_BYTES));
  if (found.kind === 'stored') return { outcome: 'stored', reason: found.reason, detail: STORED_DETAILS[found.reason] };
  if (found.kind === 'media') return { outcome: 'media', media: found.media, mediaType: found.mediaType };
  if (found.kind === 'compound') throw compoundFileRefusal(source);
  if (found.kind === 'binary')
    throw new ExtractionRefusal('unsupported_file_kind', `The file is ${found.what}, and no document.`);
  const blocks = new BlockList({ ...DEFAULT_LIMITS, ...limits });
  const head = await readers[found.kind](source, fileName, blocks);
  if (blocks.textLength < MIN_TEXT_LENGTH)
    throw new ExtractionRefusal(
      'text_too_short',
      `The document has ${blocks.textLength} characters of text, and fewer than ${MIN_TEXT_LENGTH} are not indexed.`,
    );
  return { outcome: 'extracted', document: { ...head, blocks: blocks.blocks, warnings: blocks.warnings } };
}

type Reader = (source: RandomAccess, fileName: string | undefined, blocks: BlockList) => Head | Promise<Head>;

const readers: Readonly<Record<'pdf' | 'zip' | 'text', Reader>> = {
  pdf: (source, _, blocks) => readPdf(readWhole(source, blocks.limits.maxBytes), blocks),
  zip: (source, _, blocks) => readArchiveDocument(source, blocks),
  text: (source, fileName, blocks) => readText(readWhole(source, blocks.limits.maxBytes), fileName, blocks),
};
