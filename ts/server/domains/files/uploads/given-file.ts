/** What a client says of a file, checked the same way in both protocols. Nothing of it is ever used as a path. */
import { cleanFileName } from '../../../platform/http/body/file-name.ts';
import { uploadError } from '../errors.ts';
import type { NewUpload, UploadProtocol } from './upload.ts';

export const MAX_SOURCE_LENGTH = 1000;
export const MAX_NAMESPACE_LENGTH = 128;

interface GivenFile {
  filename?: string | undefined;
  size?: number | undefined;
  sha256?: string | undefined;
  namespace?: string | undefined;
  source?: string | undefined;
  purpose?: 'media' | undefined;
}

/** The namespace of files that are for no knowledge base: recordings and films. */
export const MEDIA_NAMESPACE = '';

/** Throws `invalid_request`. */
export function checkFile(protocol: UploadProtocol, given: GivenFile): NewUpload {
  const { filename, size, sha256, source } = given;
  const fileName = cleanFileName(filename);
  if (fileName === undefined) throw wrong('`filename` is missing, or nothing of it can be shown.');
  if (size === undefined || !Number.isSafeInteger(size) || size < 1)
    throw wrong('`size` has to be the number of bytes of the file, from 1.');
  const namespace = checkNamespace(given);
  if (source !== undefined && !isText(source, MAX_SOURCE_LENGTH))
    throw wrong(`\`source\` has to be a text of 1 to ${MAX_SOURCE_LENGTH} characters.`);
  return { protocol, fileName, sizeBytes: size, namespace, source: source ?? fileName, sha256: checkHash('sha256', sha256) };
}

function checkNamespace({ namespace, purpose }: GivenFile): string {
  if (purpose === 'media') {
    if (namespace !== undefined) throw wrong('A file with the purpose `media` goes to no knowledge base; leave `namespace` out.');
    return MEDIA_NAMESPACE;
  }
  if (namespace !== undefined && isText(namespace, MAX_NAMESPACE_LENGTH)) return namespace;
  throw wrong('`namespace` has to name the knowledge base.');
}

/** Lowercase. Throws `invalid_request`. */
export function checkHash(name: string, given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  if (/^[0-9A-Fa-f]{64}$/.test(given)) return given.toLowerCase();
  throw wrong(`\`${name}\` has to be a SHA-256 as 64 hexadecimal digits.`);
}

function isText(text: string, maxLength: number): boolean {
  return text.trim() !== '' && text.length <= maxLength && text.isWellFormed() && !/\p{Cc}/u.test(text);
}

function wrong(sentence: string): Error {
  return uploadError('invalid_request', sentence);
}
