/** A multipart/form-data body (RFC 7578), part by part as it arrives. */
import type { Readable } from 'node:stream';
import busboy, { type Busboy, type FieldInfo, type FileInfo } from 'busboy';
import { decodedTextFault } from '../../text/given-text.ts';
import { HttpError } from '../errors.ts';
import { BodyAborted, type BodyStream } from './body-stream.ts';
import { cleanFileName } from './file-name.ts';

export interface PartLimits {
  maxFiles: number;
  maxFileBytes: number;
  maxFields: number;
  maxFieldBytes: number;
}

export const DEFAULT_PART_LIMITS: PartLimits = {
  maxFiles: 10,
  maxFileBytes: Number.POSITIVE_INFINITY,
  maxFields: 100,
  maxFieldBytes: 1024 * 1024,
};
const MAX_NAME_BYTES = 200;
const WRONG_NAME = 'a part has no name, or one that is too long or no text';

export type Part = FieldPart | FilePart;

export interface FieldPart {
  kind: 'field';
  name: string;
  value: string;
}

export interface FilePart {
  kind: 'file';
  name: string;
  /** The cleaned last part of the name that the client gave; it may be anything that is one file name. */
  fileName: string | undefined;
  /** As the client declared it, in lowercase. */
  contentType: string;
  /** Reading it throws as the parts do. What is not read when the next part is asked for is thrown away. */
  content: AsyncIterable<Uint8Array>;
}

/**
 * Can be read once. Reading throws HttpError 400 `invalid_multipart` and `too_many_parts`, 413 `part_too_large` and `payload_too_large`,
 * and BodyAborted.
 */
export class MultipartBody implements AsyncIterable<Part> {
  readonly #body: BodyStream;
  readonly #parser: Busboy;
  readonly #limits: PartLimits;
  #parts: Part[] = [];
  #isWhole = false;
  #failure: unknown;
  #wake = (): void => undefined;
  #wakeFeed = (): void => undefined;

  /** Throws HttpError 415 for another media type or one without a boundary. */
  constructor(body: BodyStream, contentType: string | undefined, limits: Partial<PartLimits> = {}) {
    this.#body = body;
    this.#limits = { ...DEFAULT_PART_LIMITS, ...limits };
    this.#parser = createParser(contentType, this.#limits);
    this.#parser.on('field', (name, value, info) => this.#addField(name, value, info));
    this.#parser.on('file', (name, content, info) => this.#addFile(name, content, info));
    this.#parser.on('filesLimit', () => this.#fail(tooMany('files', this.#limits.maxFiles)));
    this.#parser.on('fieldsLimit', () => this.#fail(tooMany('fields', this.#limits.maxFields)));
    this.#parser.on('error', (error) => this.#fail(error));
    this.#parser.on('drain', () => this.#wakeFeed());
    this.#parser.on('close', () => {
      this.#isWhole = true;
      this.#wake();
      this.#wakeFeed();
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Part> {
    this.#feed().catch((error: unknown) => this.#fail(error));
    try {
      while (true) {
        const part = this.#parts.shift();
        if (part !== undefined) {
          yield part;
          if (part.kind === 'file') (part.content as FileContent).discard();
        } else if (this.#failure !== undefined) throw this.#failure;
        else if (this.#isWhole) return;
        else await this.#arrival();
      }
    } finally {
      this.#parser.destroy();
    }
  }

  /** The parser takes no more while a file waits for its reader. */
  async #feed(): Promise<void> {
    for await (const chunk of this.#body) {
      if (this.#parser.destroyed) return;
      if (!this.#parser.write(chunk)) await this.#drained();
    }
    this.#parser.end();
  }

  #addField(name: string, value: string, info: FieldInfo): void {
    if (!isPartName(name) || info.nameTruncated) this.#fail(invalid(WRONG_NAME));
    else if (decodedTextFault(value) !== undefined) this.#fail(invalid(`the part ${quoted(name)} ${decodedTextFault(value)}`));
    else if (info.valueTruncated) this.#fail(tooLarge(name, this.#limits.maxFieldBytes));
    else this.#add({ kind: 'field', name, value });
  }

  #addFile(name: string, content: Readable & { truncated?: boolean }, info: FileInfo): void {
    const readContent = new FileContent(content, () => this.#failure, tooLarge(name ?? '', this.#limits.maxFileBytes));
    if (!isPartName(name)) {
      this.#fail(invalid(WRONG_NAME));
      return;
    }
    const contentType = info.mimeType.toLowerCase();
    this.#add({ kind: 'file', name, fileName: cleanFileName(info.filename), contentType, content: readContent });
  }

  #add(part: Part): void {
    this.#parts.push(part);
    this.#wake();
  }

  #fail(error: unknown): void {
    this.#failure ??= error instanceof HttpError || error instanceof BodyAborted ? error : invalid(reasonOf(error), error);
    this.#parser.destroy();
    this.#wake();
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeFeed = resolve;
    });
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** The bytes of one file. */
class FileContent implements AsyncIterable<Uint8Array> {
  readonly #source: Readable & { truncated?: boolean };
  readonly #findFailure: () => unknown;
  readonly #tooLarge: HttpError;

  constructor(source: Readable & { truncated?: boolean }, findFailure: () => unknown, tooLarge: HttpError) {
    this.#source = source;
    this.#findFailure = findFailure;
    this.#tooLarge = tooLarge;
    // The failure is thrown to the reader of the parts and of this file; without a listener it would end the process.
    source.on('error', () => undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of this.#source) yield chunk as Uint8Array;
    } catch (error) {
      throw this.#findFailure() ?? error;
    }
    const failure = this.#findFailure();
    if (failure !== undefined) throw failure;
    if (this.#source.truncated === true) throw this.#tooLarge;
  }

  discard(): void {
    this.#source.resume();
  }
}

/** The parser reports a part without a name as undefined. */
function isPartName(name: string | undefined): name is string {
  return name !== undefined && Buffer.byteLength(name) <= MAX_NAME_BYTES && decodedTextFault(name) === undefined;
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 80).toWellFormed());
}

function createParser(contentType: string | undefined, limits: PartLimits): Busboy {
  try {
    return busboy({
      headers: { 'content-type': contentType },
      // The parser counts a value of exactly its limit as cut off.
      limits: {
        files: limits.maxFiles,
        fileSize: limits.maxFileBytes + 1,
        fields: limits.maxFields,
        fieldSize: limits.maxFieldBytes + 1,
        headerPairs: 32,
      },
      // Browsers send names as they are, in UTF-8.
      defParamCharset: 'utf8',
      highWaterMark: 256 * 1024,
      fileHwm: 256 * 1024,
    });
  } catch (cause) {
    const detail = 'The body needs Content-Type: multipart/form-data with a boundary.';
    throw new HttpError(415, 'unsupported_media_type', detail, { cause });
  }
}

function invalid(reason: string, cause?: unknown): HttpError {
  return new HttpError(400, 'invalid_multipart', `The multipart body cannot be read: ${reason}.`, { cause });
}

export function tooMany(what: string, limit: number): HttpError {
  return new HttpError(400, 'too_many_parts', `The body holds more ${what} than the ${limit} that are accepted.`);
}

function tooLarge(name: string, limitBytes: number): HttpError {
  const detail = `The part ${quoted(name)} is over the limit of ${limitBytes} bytes.`;
  return new HttpError(413, 'part_too_large', detail, { param: name.slice(0, 80) });
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.charAt(0).toLowerCase() + message.slice(1, 160);
}
