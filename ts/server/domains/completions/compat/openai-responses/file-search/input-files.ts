/** Files in messages (`input_file`): their text takes their place. */

import type { InputFile, InputFileText } from '../../../../data/index.ts';
import { invalid } from '../../../errors.ts';
import { isMembers, type Members, textOr } from '../../members.ts';

/** The most files of one message. */
const MAX_FILES = 10;
/** Larger ones are stored first. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const TYPE = 'input_file';
const NONE: readonly unknown[] = [];

export type ReadInputFile = (file: InputFile) => Promise<InputFileText>;

export function hasInputFiles(input: unknown): boolean {
  return Array.isArray(input) && input.some((item) => isMembers(item) && contentOf(item).some(isInputFile));
}

/** Lists the ids of the stored files that the messages have. */
export function storedFileIds(input: readonly unknown[]): string[] {
  const parts = input.flatMap((item) => (isMembers(item) ? contentOf(item).filter(isInputFile) : []));
  return parts.flatMap((part) => (typeof part['file_id'] === 'string' ? [part['file_id']] : []));
}

/** Throws CompletionError, and what `read` throws. */
export async function withFileTexts<T extends string | readonly unknown[]>(input: T, read: ReadInputFile): Promise<T> {
  if (!hasInputFiles(input)) return input;
  const items: unknown[] = [];
  for (const [i, item] of (input as readonly unknown[]).entries())
    items.push(isMembers(item) && contentOf(item).some(isInputFile) ? await withTexts(item, `input[${i}]`, read) : item);
  return items as unknown as T;
}

async function withTexts(item: Members, param: string, read: ReadInputFile): Promise<Members> {
  const content: unknown[] = [];
  const nFiles = contentOf(item).filter(isInputFile).length;
  if (nFiles > MAX_FILES)
    throw invalid(`${param}.content`, `${param}.content has ${nFiles} files, and a message may have ${MAX_FILES}.`);
  for (const [i, part] of contentOf(item).entries()) {
    if (!isInputFile(part)) content.push(part);
    else content.push({ type: 'input_text', text: quoted(await read(readPart(part, `${param}.content[${i}]`))) });
  }
  return { ...item, content };
}

function readPart(part: Members, param: string): InputFile {
  const [fileId, data, url, fileName] = ['file_id', 'file_data', 'file_url', 'filename'].map((name) =>
    textOr(part[name], undefined, `${param}.${name}`),
  );
  if (url !== undefined) throw invalid(`${param}.file_url`, `${param}.file_url is not fetched: send file_id or file_data.`);
  if ((fileId === undefined) === (data === undefined)) throw invalid(param, `${param} needs either file_id or file_data.`);
  return { fileId, fileName, data: data === undefined ? undefined : decoded(data, `${param}.file_data`) };
}

/** Base64, as it is or as a data: URL. */
function decoded(text: string, param: string): Uint8Array {
  const base64 = /^data:[^,]{0,200};base64,/.exec(text)?.[0].length ?? 0;
  const isBase64 = /^[A-Za-z0-9+/\s]+(?:={1,2}\s*)?$/.test(text.slice(base64));
  if (!isBase64) throw invalid(param, `${param} must be base64, or a data: URL of it.`);
  const bytes = Buffer.from(text.slice(base64), 'base64');
  if (bytes.length <= MAX_FILE_BYTES) return bytes;
  throw invalid(
    param,
    `${param} has more than ${MAX_FILE_BYTES} bytes; store the file with POST /v1/files, and send its file_id.`,
  );
}

/** Quotes a file so that nothing in its text can end the quotation. */
function quoted({ fileName, text }: InputFileText): string {
  const name = fileName
    .replace(/["<>\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 200)
    .toWellFormed();
  return `<file name="${name}">\n${text.replace(/<(?=\s*(?:\/\s*)?file\b)/gi, '<\u200b')}\n</file>`;
}

function contentOf(item: Members): readonly unknown[] {
  const content = item['content'];
  return Array.isArray(content) ? content : NONE;
}

function isInputFile(part: unknown): part is Members {
  return isMembers(part) && part['type'] === TYPE;
}
