/** Makes an answer from a file and the conditions of a request. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { HttpError } from '../errors.ts';
import { allowsRange, isNotModified } from './entity-tag.ts';
import type { FileReply, ReplyHeaders } from './reply.ts';

export interface FileAnswer {
  status: 200 | 206 | 304 | 416;
  headers: ReplyHeaders;
  /** Bytes of the body; 0 for those without one. */
  sizeBytes: number;
  /** The bytes, in chunks of bounded size; reading them to the end or returning the iterator closes the file. */
  body: AsyncGenerator<Uint8Array>;
  /** Closes the file of an answer whose body is not read. */
  close(): Promise<void>;
}

/** Read at once for one client; a slow client holds this much. */
const CHUNK_BYTES = 128 * 1024;

/** Throws HttpError 404 when there is no such regular file. */
export async function openFileAnswer(reply: FileReply, requestHeaders: ReadonlyMap<string, string>): Promise<FileAnswer> {
  const handle = await openFile(reply.file);
  try {
    return await answer(reply, handle, requestHeaders);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function answer(reply: FileReply, handle: FileHandle, requestHeaders: ReadonlyMap<string, string>): Promise<FileAnswer> {
  const facts = await handle.stat({ bigint: true });
  if (!facts.isFile()) throw missing();
  const size = Number(facts.size);
  const etag = reply.etag ?? `"${facts.ino.toString(36)}-${facts.size.toString(36)}-${facts.mtimeNs.toString(36)}"`;
  const headers = { ...reply.headers, etag, 'last-modified': facts.mtime.toUTCString(), 'accept-ranges': 'bytes' };
  const close = () => handle.close();
  const of = (status: FileAnswer['status'], more: ReplyHeaders, first: number, sizeBytes: number): FileAnswer => ({
    status,
    headers: { ...headers, ...more },
    sizeBytes,
    body: readChunks(handle, first, sizeBytes),
    close,
  });
  if (isNotModified(requestHeaders, etag, facts.mtime)) return of(304, {}, 0, 0);
  const range = allowsRange(requestHeaders, etag, facts.mtime) ? readRange(requestHeaders.get('range'), size) : undefined;
  if (range === undefined) return of(200, {}, 0, size);
  if (range === 'unsatisfiable') return of(416, { 'content-range': `bytes */${size}` }, 0, 0);
  const { first, last } = range;
  return of(206, { 'content-range': `bytes ${first}-${last}/${size}` }, first, last - first + 1);
}

/** Not blocking: opening a named pipe would wait for a writer. */
async function openFile(file: string | FileHandle): Promise<FileHandle> {
  if (typeof file !== 'string') return file;
  try {
    return await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes((cause as NodeJS.ErrnoException).code ?? '')) throw missing(cause);
    throw cause;
  }
}

/** One buffer for the whole file: a chunk is valid until the next one is asked for. A file that shrinks yields less. */
async function* readChunks(handle: FileHandle, first: number, sizeBytes: number): AsyncGenerator<Uint8Array> {
  try {
    const buffer = new Uint8Array(Math.min(CHUNK_BYTES, sizeBytes));
    let at = first;
    const end = first + sizeBytes;
    while (at < end) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, end - at), at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

function missing(cause?: unknown): HttpError {
  return new HttpError(404, 'not_found', 'The file is not there, or no longer.', { cause });
}

/** The part that a Range header asks for, as the offsets of its first and its last byte. */
interface ByteRange {
  first: number;
  last: number;
}

const SINGLE = /^bytes\s*=\s*(\d{0,15})-(\d{0,15})$/i;

/**
 * Reads the Range header of a request (RFC 9110 section 14). Undefined: everything is sent, because there is no range, because it is no valid one, or because several are asked for, which a server may
 * ignore. `unsatisfiable`: the range lies behind the end.
 */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = SINGLE.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') return readSuffix(Number(to), sizeBytes);
  const first = Number(from);
  const last = to === '' ? sizeBytes - 1 : Number(to);
  if (to !== '' && last < first) return undefined;
  return first >= sizeBytes ? 'unsatisfiable' : { first, last: Math.min(last, sizeBytes - 1) };
}

/** The last so many bytes. */
function readSuffix(length: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (length === 0 || sizeBytes === 0) return 'unsatisfiable';
  return { first: Math.max(0, sizeBytes - length), last: sizeBytes - 1 };
}
