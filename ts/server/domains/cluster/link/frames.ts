/**
 * The words between nodes on their links: JSON with bytes in it, and the records of an answer, a line each. Texts of answers are bodies of JSON
 * strings and have no line break, so they are lines as the engine writes them.
 */
import { isUtf8 } from 'node:buffer';
import { type CalledRecord, isCalledRecord } from './called-record.ts';

/** A line that is longer is no record: whoever sends it is not believed any more. */
const MOST_LINE_BYTES = 16 * 1024 * 1024;

const BYTES = '$bytes';
const ARRAYS = { $int32: Int32Array, $float32: Float32Array } as const;

export function encode(value: unknown): string {
  return JSON.stringify(writable(value));
}

/** JSON.stringify would write a Buffer by the Buffer's own rule, a number for each byte, before it asked a replacer. */
function writable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Int32Array) return { $int32: base64(value) };
  if (value instanceof Float32Array) return { $float32: base64(value) };
  if (value instanceof Uint8Array) return { [BYTES]: base64(value) };
  if (Array.isArray(value)) return value.map(writable);
  return 'toJSON' in value ? value : Object.fromEntries(Object.entries(value).map(([name, each]) => [name, writable(each)]));
}

/** Throws for what is no JSON. */
export function decode(text: string | Buffer): unknown {
  return JSON.parse(text.toString(), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    const [entry, ...more] = Object.entries(value);
    if (entry === undefined || more.length > 0 || typeof entry[1] !== 'string') return value;
    if (entry[0] === BYTES) return Buffer.from(entry[1], 'base64');
    return Object.hasOwn(ARRAYS, entry[0]) ? arrayOf(ARRAYS[entry[0] as keyof typeof ARRAYS], entry[1]) : value;
  });
}

function base64({ buffer, byteOffset, byteLength }: Uint8Array | Int32Array | Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

function arrayOf(Kind: typeof Int32Array | typeof Float32Array, text: string): Int32Array | Float32Array {
  const bytes = new Uint8Array(Buffer.from(text, 'base64'));
  return new Kind(bytes.buffer, 0, Math.floor(bytes.length / 4));
}

/** One record of an answer. `bytes` is valid only until the next piece is read. */
export type AnswerRecord =
  | { kind: 'content'; choice: number; bytes: Buffer }
  | { kind: 'reasoning'; choice: number; bytes: Buffer }
  | { kind: 'arguments'; choice: number; index: number; bytes: Buffer }
  | { kind: 'call'; call: CalledRecord };

export const recordLine = {
  content: (choice: number, body: Buffer): Buffer[] => [Buffer.from(`c${choice} `), body, NEWLINE],
  reasoning: (choice: number, body: Buffer): Buffer[] => [Buffer.from(`r${choice} `), body, NEWLINE],
  arguments: (choice: number, index: number, body: Buffer): Buffer[] => [Buffer.from(`a${choice}.${index} `), body, NEWLINE],
  call: (call: CalledRecord): Buffer[] => [Buffer.from(`j${encode(call)}\n`)],
};
const NEWLINE = Buffer.from('\n');
/** Says that the sender is alive. */
export const IDLE_LINE = NEWLINE;

const HEAD = /^([cra])(\d{1,4})(?:\.(\d{1,4}))? $/;
const LONGEST_HEAD = 12;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const ESCAPE = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/;
const LONGEST_ESCAPE = 6;
/** A record comes in fewer pieces. */
const MOST_PIECES = 65_536;

/** Cuts what comes into records. Throws for what is none. */
export class RecordReader {
  #rest: Buffer[] = [];
  #nRest = 0;

  read(chunk: Buffer): AnswerRecord[] {
    const records: AnswerRecord[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = this.#line(chunk.subarray(from, end));
      if (line.length > 0) records.push(recordOf(line));
      from = end + 1;
    }
    if (from === chunk.length) return records;
    this.#nRest += chunk.length - from;
    if (this.#nRest > MOST_LINE_BYTES || this.#rest.length > MOST_PIECES) throw new Error('a record of a node is too long');
    this.#rest.push(Buffer.from(chunk.subarray(from)));
    return records;
  }

  #line(end: Buffer): Buffer {
    if (this.#rest.length === 0) return end;
    const line = Buffer.concat([...this.#rest, end]);
    this.#rest = [];
    this.#nRest = 0;
    if (line.length > MOST_LINE_BYTES) throw new Error('a record of a node is too long');
    return line;
  }
}

function recordOf(line: Buffer): AnswerRecord {
  if (line[0] === 0x6a) return { kind: 'call', call: callOf(line.toString('utf8', 1)) };
  const space = line.subarray(0, LONGEST_HEAD).indexOf(0x20);
  const [, kind, choice, index] = HEAD.exec(line.toString('latin1', 0, space + 1)) ?? [];
  const bytes = line.subarray(space + 1);
  if (!isJsonBody(bytes)) throw new Error('a node sends a text that is none');
  if (kind === 'a' && index !== undefined) return { kind: 'arguments', choice: Number(choice), index: Number(index), bytes };
  if (kind === 'c' && index === undefined) return { kind: 'content', choice: Number(choice), bytes };
  if (kind === 'r' && index === undefined) return { kind: 'reasoning', choice: Number(choice), bytes };
  throw new Error('a node sends what is no record');
}

/** Whether it can stand between the quotes of a JSON string: it goes to clients as it is, and nothing in it may end the string. */
function isJsonBody(bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte < 0x20 || byte === QUOTE) return false;
    if (byte !== BACKSLASH) continue;
    const escaped = ESCAPE.exec(bytes.toString('latin1', i, i + LONGEST_ESCAPE));
    if (escaped === null) return false;
    i += escaped[0].length - 1;
  }
  return isUtf8(bytes);
}

function callOf(text: string): CalledRecord {
  const call = decode(text);
  if (isCalledRecord(call)) return call;
  throw new Error('a node sends what is no record');
}
