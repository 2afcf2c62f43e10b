/** The form of a file upload. Its fields may come behind the file, so the bytes are on disk before the purpose is known. */

import type { MultipartBody } from '../../../platform/http/body/multipart.ts';
import { HttpError } from '../../../platform/http/errors.ts';
import { type ArrivedFile, PURPOSES, type Purpose } from '../../files/index.ts';

interface FormFile {
  readonly file: ArrivedFile;
  readonly purpose: Purpose;
  readonly expiresAfterMs: number | undefined;
}

/** As OpenAI bounds it: an hour to thirty days. */
const LEAST_SECONDS = 3_600;
const MOST_SECONDS = 2_592_000;

/** Throws HttpError 400. What `receive` made of the file has to be discarded then. */
export async function readFileForm(
  body: MultipartBody,
  receive: (fileName: string, content: AsyncIterable<Uint8Array>) => Promise<ArrivedFile>,
): Promise<FormFile> {
  const fields = new Map<string, string>();
  let file: ArrivedFile | undefined;
  for await (const part of body) {
    if (part.kind === 'field') fields.set(part.name, part.value);
    else if (part.name !== 'file')
      throw wrong(part.name, `The form has a file named ${JSON.stringify(part.name)}; send it as file.`);
    else if (part.fileName === undefined) throw wrong('file', 'The file has no name that can be shown.');
    else file = await receive(part.fileName, part.content);
  }
  const purpose = PURPOSES.find((each) => each === fields.get('purpose'));
  if (file === undefined) throw wrong('file', 'The form has no file.');
  if (purpose === undefined)
    throw wrong('purpose', `purpose must be one of ${PURPOSES.join(', ')}: files of other purposes are not kept here.`);
  return { file, purpose, expiresAfterMs: readExpiry(fields) };
}

function readExpiry(fields: ReadonlyMap<string, string>): number | undefined {
  const anchor = fields.get('expires_after[anchor]');
  const text = fields.get('expires_after[seconds]');
  if (anchor === undefined && text === undefined) return undefined;
  if (anchor !== 'created_at') throw wrong('expires_after', 'expires_after[anchor] must be created_at.');
  const seconds = text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS) return seconds * 1000;
  throw wrong('expires_after', `expires_after[seconds] must be a whole number from ${LEAST_SECONDS} to ${MOST_SECONDS}.`);
}

function wrong(param: string, detail: string): HttpError {
  return new HttpError(400, 'invalid_request', detail, { param: param.slice(0, 80) });
}
