/** Files that are text: their encoding, their kind, and the reader of that kind. */
import type { BlockList } from '../block-list.ts';
import type { ExtractedDocument } from '../extracted-document.ts';
import { ExtractionRefusal } from '../extraction-refusal.ts';
import { declaredCharset } from '../html/html-charset.ts';
import { HtmlReader } from '../html/html-reader.ts';
import { MailReader } from '../mail/mail-reader.ts';
import { decodeText } from './charset.ts';
import { readCsv } from './csv.ts';
import { JsonReader } from './json.ts';
import { readLines } from './line-block.ts';
import { MarkdownReader } from './markdown.ts';
import { readPlainText } from './plain-text.ts';
import { type TextKind, textKindOf } from './text-kind.ts';

type Head = Pick<ExtractedDocument, 'kind' | 'title' | 'language' | 'links'>;

/** Throws `unsupported_file_kind` for bytes that are no text. */
export function readText(bytes: Uint8Array, name: string | undefined, blocks: BlockList): Head {
  const text = decodeText(bytes, declaredCharset(bytes));
  if (isBinary(text))
    throw new ExtractionRefusal('unsupported_file_kind', 'The file is neither text nor of another kind that can be read.');
  const kind = textKindOf(text, name);
  return { kind, ...readers[kind](text, bytes, blocks) };
}

type Reader = (text: string, bytes: Uint8Array, blocks: BlockList) => Partial<Head>;

const lines: Reader = (text, _, blocks) => {
  readLines(text, blocks);
  return {};
};

const readers: Readonly<Record<TextKind, Reader>> = {
  text: (text, _, blocks) => {
    readPlainText(text, blocks);
    return {};
  },
  markdown: (text, _, blocks) => {
    const reader = new MarkdownReader(blocks);
    reader.read(text);
    return titled(reader.title);
  },
  html: (text, _, blocks) => {
    const reader = new HtmlReader(blocks);
    reader.read(text);
    const { title, language, links } = reader;
    return { ...titled(title), ...(language ? { language } : {}), ...(links.length > 0 && { links }) };
  },
  json: (text, _, blocks) => {
    new JsonReader(blocks).read(text);
    return {};
  },
  csv: (text, _, blocks) => {
    readCsv(text, blocks);
    return {};
  },
  email: (_, bytes, blocks) => {
    const reader = new MailReader(blocks);
    reader.read(bytes);
    return titled(reader.title);
  },
  yaml: lines,
  sql: lines,
  code: lines,
};

function titled(title: string | undefined): Partial<Head> {
  return title === undefined || title === '' ? {} : { title };
}

/** Text has next to no control characters. Of a long file the beginning, the middle and the end are looked at. */
function isBinary(text: string): boolean {
  const length = 16_384;
  const middle = Math.floor(text.length / 2);
  const sample = text.slice(0, length) + text.slice(middle, middle + length) + text.slice(-length);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is counted
  const nControls = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/g)?.length ?? 0;
  return nControls > sample.length * 0.02;
}
