/** A message: its subject, who wrote to whom and when, and the text of its parts. Attached files are named and not read. */
import type { BlockList } from '../block-list.ts';
import { ExtractionRefusal } from '../extraction-refusal.ts';
import { declaredCharset } from '../html/html-charset.ts';
import { HtmlReader } from '../html/html-reader.ts';
import { decodeText } from '../text/charset.ts';
import { readPlainText } from '../text/plain-text.ts';
import { type FieldValue, MailHeaders } from './mail-headers.ts';
import { decodeTransfer } from './transfer-encoding.ts';

const MAX_DEPTH = 16;
const MAX_PARTS = 1_000;

interface Part {
  headers: MailHeaders;
  type: FieldValue;
  body: string;
}

export class MailReader {
  title: string | undefined;
  readonly #blocks: BlockList;
  #nParts = 0;

  constructor(blocks: BlockList) {
    this.#blocks = blocks;
  }

  read(bytes: Uint8Array): void {
    const message = splitPart(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'));
    this.title = message.headers.text('subject') || undefined;
    this.#readMessage(message, 0);
  }

  #readMessage(message: Part, depth: number): void {
    const { headers } = message;
    this.#blocks.heading(headers.text('subject'), depth === 0 ? 1 : 2);
    const lines = ['from', 'to', 'cc', 'date'].map((name) => [name, headers.text(name)] as const);
    const head = lines
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${value}`);
    this.#blocks.paragraph(head.join('\n'));
    this.#readPart(message, depth);
  }

  #readPart(part: Part, depth: number): void {
    this.#nParts++;
    if (depth > MAX_DEPTH || this.#nParts > MAX_PARTS)
      throw new ExtractionRefusal('too_deeply_nested', 'The message has more parts, or parts inside each other, than are read.');
    const { value, parameters } = part.type;
    const boundary = parameters.get('boundary');
    if (value.startsWith('multipart/') && boundary !== undefined) this.#readParts(value, partsOf(part.body, boundary), depth);
    else if (value === 'message/rfc822') this.#readMessage(splitPart(part.body), depth + 1);
    else this.#readLeaf(part);
  }

  #readLeaf(part: Part): void {
    const { value, parameters } = part.type;
    const file = part.headers.structured('content-disposition');
    const name = file.parameters.get('filename') ?? parameters.get('name');
    const isText = value === '' || value === 'text/plain' || value === 'text/html';
    if (file.value === 'attachment' || !isText) this.#skip(name, value);
    else this.#readText(part, value === 'text/html', parameters.get('charset'));
  }

  /** Of alternatives the plain one is read, where there is one: it says the same without marks. */
  #readParts(type: string, parts: readonly Part[], depth: number): void {
    const plain = parts.find((part) => part.type.value === 'text/plain');
    const read = type === 'multipart/alternative' ? [plain ?? parts.at(-1)].filter((part) => part !== undefined) : parts;
    for (const part of read) this.#readPart(part, depth + 1);
  }

  #readText({ headers, body }: Part, isHtml: boolean, charset: string | undefined): void {
    const bytes = decodeTransfer(body, headers.raw('content-transfer-encoding'));
    if (isHtml) new HtmlReader(this.#blocks).read(decodeText(bytes, charset ?? declaredCharset(bytes)));
    else readPlainText(decodeText(bytes, charset), this.#blocks);
  }

  #skip(name: string | undefined, type: string): void {
    const what =
      name === undefined || name === ''
        ? `a part of type ${type.slice(0, 80)}`
        : `the attached file ${JSON.stringify(name.slice(0, 120))}`;
    this.#blocks.warn(`The message has ${what}, which is not read; add it as a document of its own.`);
  }
}

function splitPart(text: string): Part {
  const end = /\r?\n\r?\n/.exec(text);
  const headers = new MailHeaders(text.slice(0, end?.index ?? text.length));
  return { headers, type: headers.structured('content-type'), body: end === null ? '' : text.slice(end.index + end[0].length) };
}

/** The preamble before the first delimiter and the epilogue behind the last are no parts (RFC 2046 section 5.1.1). */
function partsOf(body: string, boundary: string): Part[] {
  const parts: Part[] = [];
  let start: number | undefined;
  for (let at = body.startsWith(`--${boundary}`) ? 0 : nextDelimiter(body, boundary, 0); at !== -1; ) {
    if (start !== undefined) parts.push(splitPart(body.slice(start, at)));
    const after = at + boundary.length + 2;
    if (body.startsWith('--', after) || parts.length > MAX_PARTS) return parts;
    const line = body.indexOf('\n', after);
    if (line === -1) return parts;
    start = line + 1;
    at = nextDelimiter(body, boundary, line);
  }
  // Without a last delimiter the message was cut off; what came is read.
  if (start !== undefined) parts.push(splitPart(body.slice(start)));
  return parts;
}

function nextDelimiter(body: string, boundary: string, from: number): number {
  const at = body.indexOf(`\n--${boundary}`, from);
  return at === -1 ? -1 : at + 1;
}
