/** Writes FlatBuffers: each table behind its vtable, and what it points to behind it, so that no two members share a place. Pure. */
import {
  bytesInTable,
  ELEMENT_BYTES,
  type FlatDraft,
  type FlatSchema,
  isList,
  isNumber,
  isVector,
  type Member,
  type NUMBER_BYTES,
} from './flat-schema.ts';

const FIRST_BYTES = 512;
const POINTER_BYTES = 4;
/** The identifier stands behind the pointer to the root. */
const HEAD_BYTES = 8;
const VTABLE_HEAD_BYTES = 4;

type Draft = Readonly<Record<string, unknown>>;

export function writeFlat<const S extends FlatSchema>(schema: S, identifier: string, draft: FlatDraft<S>): Buffer {
  const writer = new FlatWriter();
  writer.head(identifier);
  writer.pointTo(0, writer.table(schema, draft as Draft));
  return writer.bytes;
}

class FlatWriter {
  #bytes = Buffer.alloc(FIRST_BYTES);
  #end = 0;

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#end);
  }

  head(identifier: string): void {
    this.#bytes.write(identifier, POINTER_BYTES, 'latin1');
    this.#end = HEAD_BYTES;
  }

  pointTo(at: number, to: number): void {
    this.#bytes.writeUInt32LE(to - at, at);
  }

  /** Returns the place of the table. */
  table(schema: FlatSchema, draft: Draft): number {
    const members = Object.entries(schema);
    const given = members.filter(([name]) => draft[name] !== undefined);
    // The largest come first, so that each lies at a multiple of its size.
    const placed = given.toSorted(([, a], [, b]) => bytesInTable(b) - bytesInTable(a));
    const nVtable = VTABLE_HEAD_BYTES + 2 * members.length;
    const nTable = placed.reduce((sum, [, member]) => sum + bytesInTable(member), POINTER_BYTES);
    const vtable = this.#place(nVtable, 2);
    const at = this.#place(nTable, 8, POINTER_BYTES);
    this.#bytes.writeUInt16LE(nVtable, vtable);
    this.#bytes.writeUInt16LE(nTable, vtable + 2);
    this.#bytes.writeInt32LE(at - vtable, at);
    let offset = POINTER_BYTES;
    for (const [name, member] of placed) {
      const slot = members.findIndex(([each]) => each === name);
      this.#bytes.writeUInt16LE(offset, vtable + VTABLE_HEAD_BYTES + 2 * slot);
      if (isNumber(member)) this.#number(at + offset, member, draft[name] as number | boolean);
      else this.pointTo(at + offset, this.#behind(member, draft[name]));
      offset += bytesInTable(member);
    }
    return at;
  }

  #behind(member: Exclude<Member, keyof typeof NUMBER_BYTES>, value: unknown): number {
    if (member === 'string') return this.#text(value as string);
    if (member === '[string]') return this.#list(value as readonly string[], (text) => this.#text(text));
    if (isList(member)) return this.#list(value as readonly Draft[], (each) => this.table(member[0], each));
    if (!isVector(member)) return this.table(member as FlatSchema, value as Draft);
    const { buffer, byteOffset, byteLength } = value as Uint8Array | Int32Array | Float32Array;
    return this.#elements(byteLength / ELEMENT_BYTES[member], Buffer.from(buffer, byteOffset, byteLength));
  }

  #number(at: number, kind: keyof typeof NUMBER_BYTES, value: number | boolean): void {
    if (kind === 'bool' || kind === 'ubyte') this.#bytes.writeUInt8(Number(value), at);
    else if (kind === 'uint') this.#bytes.writeUInt32LE(value as number, at);
    else if (kind === 'double') this.#bytes.writeDoubleLE(value as number, at);
    else this.#bytes.writeBigUInt64LE(BigInt(value), at);
  }

  #text(text: string): number {
    const bytes = Buffer.from(text);
    const at = this.#elements(bytes.length, bytes);
    // The zero behind a text.
    this.#place(1, 1);
    return at;
  }

  #elements(n: number, bytes: Uint8Array): number {
    const at = this.#place(POINTER_BYTES + bytes.length, POINTER_BYTES);
    this.#bytes.writeUInt32LE(n, at);
    this.#bytes.set(bytes, at + POINTER_BYTES);
    return at;
  }

  #list<T>(values: readonly T[], write: (value: T) => number): number {
    const at = this.#place(POINTER_BYTES * (1 + values.length), POINTER_BYTES);
    this.#bytes.writeUInt32LE(values.length, at);
    for (const [i, value] of values.entries()) {
      const place = at + POINTER_BYTES * (1 + i);
      this.pointTo(place, write(value));
    }
    return at;
  }

  /** Takes so many bytes of zeros at a place that is a multiple, `before` bytes in front of one. */
  #place(nBytes: number, multiple: number, before = 0): number {
    const at = Math.ceil((this.#end + before) / multiple) * multiple - before;
    const end = at + nBytes;
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(end, 2 * this.#bytes.length));
      larger.set(this.bytes);
      this.#bytes = larger;
    }
    this.#end = end;
    return at;
  }
}
