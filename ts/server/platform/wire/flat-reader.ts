/**
 * Reads FlatBuffers that anybody may have written. The runtime of the npm package has no verifier, so each place is checked to lie in the buffer before it is
 * read. What is read is counted: texts, vectors and tables together take no more than the buffer has, however often it points to one place. Pure.
 */
import {
  bytesInTable,
  ELEMENT_BYTES,
  type FlatSchema,
  type FlatTable,
  isList,
  isNumber,
  isVector,
  type Member,
  type NUMBER_BYTES,
} from './flat-schema.ts';

/** The buffer is none of its schema. */
export class FlatFault extends Error {
  override readonly name = 'FlatFault';
}

const IDENTIFIER_AT = 4;
const HEAD_BYTES = 8;
const POINTER_BYTES = 4;
const VTABLE_HEAD_BYTES = 4;

/** The vectors of bytes lie in `bytes` itself; all else is copied. Throws a FlatFault. */
export function readFlat<const S extends FlatSchema>(schema: S, identifier: string, bytes: Uint8Array): FlatTable<S> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < HEAD_BYTES || buffer.toString('latin1', IDENTIFIER_AT, HEAD_BYTES) !== identifier)
    throw new FlatFault(`it is no ${identifier}`);
  const reader = new FlatReader(buffer);
  return reader.table(reader.pointer(0), schema) as FlatTable<S>;
}

class FlatReader {
  readonly #bytes: Buffer;
  /** Bytes that may still be read. */
  #nLeft: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#nLeft = bytes.length;
  }

  pointer(at: number): number {
    const to = at + this.#bytes.readUInt32LE(this.#within(at, POINTER_BYTES));
    if (to === at) throw new FlatFault('a place points to itself');
    return this.#within(to, POINTER_BYTES);
  }

  table(at: number, schema: FlatSchema): Record<string, unknown> {
    const vtable = at - this.#bytes.readInt32LE(this.#within(at, POINTER_BYTES));
    const nVtable = this.#bytes.readUInt16LE(this.#within(vtable, VTABLE_HEAD_BYTES));
    const nTable = this.#bytes.readUInt16LE(vtable + 2);
    if (nVtable < VTABLE_HEAD_BYTES || nTable < POINTER_BYTES) throw new FlatFault('a table is too short');
    this.#within(vtable, nVtable);
    this.#within(at, nTable);
    this.#count(nTable);
    const table: Record<string, unknown> = {};
    let slot = vtable + VTABLE_HEAD_BYTES;
    for (const [name, member] of Object.entries(schema)) {
      const offset = slot + 2 > vtable + nVtable ? 0 : this.#bytes.readUInt16LE(slot);
      if (offset !== 0 && offset + bytesInTable(member) > nTable) throw new FlatFault('a member lies outside of its table');
      table[name] = offset === 0 ? absent(member) : this.#value(at + offset, member);
      slot += 2;
    }
    return table;
  }

  #value(at: number, member: Member): unknown {
    if (isNumber(member)) return this.#number(at, member);
    const to = this.pointer(at);
    if (isVector(member)) return this.#vector(to, member);
    if (member === 'string') return this.#text(to);
    if (member === '[string]') return this.#list(to, (each) => this.#text(each));
    if (isList(member)) return this.#list(to, (each) => this.table(each, member[0]));
    return this.table(to, member as FlatSchema);
  }

  #number(at: number, kind: keyof typeof NUMBER_BYTES): number | boolean {
    if (kind === 'bool') return this.#bytes.readUInt8(at) !== 0;
    if (kind === 'ubyte') return this.#bytes.readUInt8(at);
    if (kind === 'uint') return this.#bytes.readUInt32LE(at);
    if (kind === 'double') return this.#bytes.readDoubleLE(at);
    const value = Number(this.#bytes.readBigUInt64LE(at));
    if (!Number.isSafeInteger(value)) throw new FlatFault('a number is too large');
    return value;
  }

  #text(at: number): string {
    const n = this.#elements(at, 1);
    return this.#bytes.toString('utf8', at + POINTER_BYTES, at + POINTER_BYTES + n);
  }

  #vector(at: number, kind: keyof typeof ELEMENT_BYTES): Uint8Array | Int32Array | Float32Array {
    const nBytes = this.#elements(at, ELEMENT_BYTES[kind]) * ELEMENT_BYTES[kind];
    const bytes = this.#bytes.subarray(at + POINTER_BYTES, at + POINTER_BYTES + nBytes);
    if (kind === '[ubyte]') return bytes;
    // A copy, since elements have to lie at a multiple of their size.
    const { buffer } = new Uint8Array(bytes);
    return kind === '[int]' ? new Int32Array(buffer) : new Float32Array(buffer);
  }

  #list<T>(at: number, read: (at: number) => T): T[] {
    const n = this.#elements(at, POINTER_BYTES);
    const list: T[] = [];
    for (let i = 0; i < n; i++) list.push(read(this.pointer(at + POINTER_BYTES + i * POINTER_BYTES)));
    return list;
  }

  /** The number of a vector's elements, which lie in the buffer and are counted. */
  #elements(at: number, nBytes: number): number {
    const n = this.#bytes.readUInt32LE(at);
    this.#within(at + POINTER_BYTES, n * nBytes);
    this.#count(POINTER_BYTES + n * nBytes);
    return n;
  }

  #count(nBytes: number): void {
    this.#nLeft -= nBytes;
    if (this.#nLeft < 0) throw new FlatFault('it has several names for one place');
  }

  #within(at: number, nBytes: number): number {
    if (at >= 0 && at + nBytes <= this.#bytes.length) return at;
    throw new FlatFault('it points outside of itself');
  }
}

function absent(member: Member): unknown {
  if (member === 'bool') return false;
  if (isNumber(member)) return 0;
  if (member === 'string') return '';
  if (member === '[ubyte]') return Buffer.alloc(0);
  if (member === '[int]') return new Int32Array();
  if (member === '[float]') return new Float32Array();
  return member === '[string]' || isList(member) ? [] : undefined;
}
