/** Reads the bytes of a JSON body into what the handler gets: parsed, checked by the schema, and translated where the route does so. */

import { isUtf8 } from 'node:buffer';
import type { TSchema } from 'typebox';
import { DomainError } from '../../errors/domain-error.ts';
import { SchemaCheck } from '../../schema/schema-check.ts';
import { findJsonTextFault, makeWellFormed, mayHoldFaultyText } from '../../text/given-text.ts';
import { HttpError, invalidRequest } from '../errors.ts';
import type { BodyReading } from '../route.ts';

/** Longer sentences quote what the client sent. */
const MOST_SENTENCE_CHARACTERS = 2_000;

export class BodyReader {
  readonly #check: SchemaCheck;
  readonly #texts: BodyTexts;
  readonly #reading: Pick<BodyReading<unknown, unknown>, 'read'> | undefined;

  constructor(schema: TSchema, texts: BodyTexts = 'plain', reading?: Pick<BodyReading<unknown, unknown>, 'read'>) {
    this.#check = new SchemaCheck(schema);
    this.#texts = texts;
    this.#reading = reading;
  }

  /** Throws HttpError, or the DomainError of the reading. */
  read(bytes: Uint8Array): unknown {
    const value = parseJsonBody(bytes, this.#texts);
    const fault = this.#check.findFault(value, 'the request body');
    if (fault !== undefined) throw invalidRequest(fault);
    if (this.#reading === undefined) return value;
    try {
      return this.#reading.read(value, bytes.length);
    } catch (error) {
      throw shortened(error);
    }
  }
}

function shortened(error: unknown): unknown {
  if (!(error instanceof DomainError || error instanceof HttpError)) return error;
  if (error.message.length <= MOST_SENTENCE_CHARACTERS) return error;
  error.message = `${error.message.slice(0, MOST_SENTENCE_CHARACTERS)}...`;
  return error;
}

/** More take gigabytes once they are parsed. Names of members count as values of their own. */
const MAX_JSON_VALUES = 4 * 1024 * 1024;

/** Deeper nesting serves no request here and would overflow the stack of a recursive walk. */
const MAX_JSON_DEPTH = 256;

/** The most characters of a member's name in the sentence that refuses it. */
const MOST_NAME_CHARACTERS = 200;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const JSON_MEDIA_TYPE = /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;\s*charset\s*=\s*"?(?:utf-8|utf8|us-ascii)"?\s*)?$/i;

export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_MEDIA_TYPE.test(contentType);
}

export function requireJsonType(contentType: string | undefined): void {
  if (isJsonType(contentType)) return;
  const given = contentType === undefined ? 'no Content-Type was given' : `${JSON.stringify(contentType.slice(0, 80))} was given`;
  throw new HttpError(415, 'unsupported_media_type', `The body needs Content-Type: application/json; ${given}.`);
}

/**
 * Says what the strings of a body may hold. `plain`: no NUL and no half of a surrogate pair, since they become names, identifiers and stored texts.
 * `free`: anything, as the prompts of models do; halves of pairs are read as U+FFFD.
 */
export type BodyTexts = 'plain' | 'free';

export function parseJsonBody(bytes: Uint8Array, texts: BodyTexts = 'plain'): unknown {
  if (bytes.length === 0) throw invalid('The request body is empty; a JSON document is needed.');
  if (!isUtf8(bytes)) throw invalid('The request body is not valid UTF-8.');
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  refuseShape(buffer);
  const text = withoutMark(buffer).toString('utf8');
  try {
    const value: unknown = JSON.parse(text);
    if (mayNamePrototype(text)) dropPrototypes(value);
    if (!mayHoldFaultyText(text)) return value;
    if (texts === 'free') return makeWellFormed(value);
    requirePlainTexts(value);
    return value;
  } catch (cause) {
    if (cause instanceof HttpError) throw cause;
    throw invalid(`The request body is not valid JSON: ${reason(cause)}.`, cause);
  }
}

function requirePlainTexts(value: unknown): void {
  const found = findJsonTextFault(value);
  if (found === undefined) return;
  const member = found.member.slice(0, MOST_NAME_CHARACTERS);
  const subject = member === '' ? 'the request body' : `\`${member}\``;
  throw invalidRequest({ member, sentence: `${subject} ${found.fault}.` });
}

function invalid(detail: string, cause?: unknown): HttpError {
  return new HttpError(400, 'invalid_json', detail, { cause, extra: { status: 400 } });
}

/** Editors on some systems put a byte order mark first; RFC 8259 section 8.1 lets a parser ignore it. */
function withoutMark(buffer: Buffer): Buffer {
  return buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf ? buffer.subarray(3) : buffer;
}

/** V8's sentences quote the input; keep the position and little of the text. */
function reason(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.length > 160 ? `${message.slice(0, 160)}...` : message.replace(/\.$/, '');
}

/** An own member of this name is data here, but assigning it to another object sets that object's prototype. */
function mayNamePrototype(text: string): boolean {
  return text.includes('__proto__') || /\\u00(?:5[fF]|7[0-9a-fA-F]|6[0-9a-fA-F])/.test(text);
}

/** A walk: a reviver would take several times as long, since JSON.parse calls it for each value. */
function dropPrototypes(root: unknown): void {
  const waiting = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__');
    for (const each of Object.values(value)) if (typeof each === 'object' && each !== null) waiting.push(each);
  }
}

/** Looks at what stands outside of strings, without parsing. */
function refuseShape(buffer: Buffer): void {
  let depth = 0;
  // The value that no comma, colon or bracket stands before.
  let nValues = 1;
  for (let i = 0; i < buffer.length; i++) {
    const byte = buffer[i];
    if (byte === QUOTE) i = endOfString(buffer, i);
    else if (byte === COMMA || byte === COLON) nValues++;
    else if (byte === 0x5b || byte === 0x7b) {
      nValues++;
      if (++depth > MAX_JSON_DEPTH) throw invalid(`The JSON is nested deeper than ${MAX_JSON_DEPTH} levels.`);
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
    if (nValues > MAX_JSON_VALUES) {
      throw invalid(`The JSON has more than ${MAX_JSON_VALUES} values, names of members included; send it in several requests.`);
    }
  }
}

/** Index of the closing quote; the end of the buffer when there is none. */
function endOfString(buffer: Buffer, start: number): number {
  let at = start;
  while (true) {
    at = buffer.indexOf(QUOTE, at + 1);
    if (at < 0) return buffer.length;
    let backslashes = 0;
    while (buffer[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
}
