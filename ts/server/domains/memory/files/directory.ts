/**
 * The directory of a memory file as a FlatBuffer of `platform/wire/exmm.fbs`. The runtime of the npm package has no verifier, so each place is checked to lie in
 * the buffer before it is read (https://flatbuffers.dev/internals/). Pure.
 */

export const SECTION_KINDS = ['episodes', 'slots', 'vectors', 'world_model', 'router'] as const;
export type SectionKind = (typeof SECTION_KINDS)[number];

export interface FileSection {
  readonly kind: SectionKind;
  readonly name: string;
  /** Bytes from the begin of the file. */
  readonly offset: number;
  readonly size: number;
  readonly sha256: Uint8Array;
}

/** The file is no memory file, or is damaged. */
export class MemoryFileFault extends Error {
  override readonly name = 'MemoryFileFault';
  readonly code = 'memory_file_invalid';
}

export const MAX_DIRECTORY_BYTES = 2 ** 20;
export const MAX_SECTIONS = 4_096;
const MAX_NAME_BYTES = 200;
const IDENTIFIER = 'EXMM';
const SHA256_BYTES = 32;

/** Tables stand behind one vtable of each kind, and what they point to behind them. */
export function writeDirectory(created: number, sections: readonly FileSection[]): Uint8Array {
  const names = sections.map(({ name }) => new TextEncoder().encode(name));
  const tables = aligned(52 + 4 * sections.length, 8);
  let end = tables + 32 * sections.length;
  const places = names.map((name) => {
    const at = end;
    const hashAt = aligned(at + 4 + name.length + 1, 4);
    end = aligned(hashAt + 4 + SHA256_BYTES, 4);
    return { at, hashAt };
  });
  const bytes = new Uint8Array(end);
  const view = new DataView(bytes.buffer);
  const u16s = (at: number, values: readonly number[]): void => {
    for (const [i, value] of values.entries()) view.setUint16(at + 2 * i, value, true);
  };
  const pointer = (at: number, to: number) => view.setUint32(at, to - at, true);
  pointer(0, 16);
  bytes.set(new TextEncoder().encode(IDENTIFIER), 4);
  u16s(8, [8, 16, 8, 4]);
  view.setInt32(16, 16 - 8, true);
  pointer(20, 48);
  view.setBigUint64(24, BigInt(created), true);
  u16s(32, [14, 32, 28, 4, 8, 16, 24]);
  view.setUint32(48, sections.length, true);
  for (const [i, { kind, offset, size, sha256 }] of sections.entries()) {
    const table = tables + 32 * i;
    const { at, hashAt } = places[i] as (typeof places)[number];
    const name = names[i] as Uint8Array;
    pointer(52 + 4 * i, table);
    view.setInt32(table, table - 32, true);
    pointer(table + 4, at);
    view.setBigUint64(table + 8, BigInt(offset), true);
    view.setBigUint64(table + 16, BigInt(size), true);
    pointer(table + 24, hashAt);
    view.setUint8(table + 28, SECTION_KINDS.indexOf(kind));
    view.setUint32(at, name.length, true);
    bytes.set(name, at + 4);
    view.setUint32(hashAt, SHA256_BYTES, true);
    bytes.set(sha256, hashAt + 4);
  }
  return bytes;
}

/** Throws a MemoryFileFault. */
export function readDirectory(bytes: Uint8Array): FileSection[] {
  const reader = new TableReader(bytes);
  if (bytes.length < 8 || new TextDecoder('latin1').decode(bytes.subarray(4, 8)) !== IDENTIFIER)
    throw new MemoryFileFault('the directory lacks its identifier');
  const root = reader.pointer(0);
  const vector = reader.required(root, 1);
  const n = reader.u32(vector);
  if (n > MAX_SECTIONS) throw new MemoryFileFault(`the directory has more than ${MAX_SECTIONS} sections`);
  return Array.from({ length: n }, (_, i) => {
    const table = reader.pointer(vector + 4 + 4 * i);
    const kindAt = reader.field(table, 0);
    const kind = SECTION_KINDS[kindAt === undefined ? 0 : reader.u8(kindAt)];
    if (kind === undefined) throw new MemoryFileFault('a section is of a kind that nobody knows');
    const sha256 = reader.vector(reader.required(table, 4), SHA256_BYTES);
    if (sha256.length !== SHA256_BYTES) throw new MemoryFileFault('a section lacks its SHA-256');
    const name = new TextDecoder().decode(reader.vector(reader.required(table, 1), MAX_NAME_BYTES));
    return { kind, name, offset: reader.u64(reader.field(table, 2)), size: reader.u64(reader.field(table, 3)), sha256 };
  });
}

class TableReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(at: number): number {
    return this.#view.getUint8(this.#within(at, 1));
  }

  u32(at: number): number {
    return this.#view.getUint32(this.#within(at, 4), true);
  }

  /** A field that is absent is 0. */
  u64(at: number | undefined): number {
    if (at === undefined) return 0;
    const value = this.#view.getBigUint64(this.#within(at, 8), true);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new MemoryFileFault('a number of the directory is too large');
    return Number(value);
  }

  pointer(at: number): number {
    const to = at + this.u32(at);
    if (to <= at) throw new MemoryFileFault('a place of the directory points to itself');
    return this.#within(to, 4);
  }

  /** The place of a table's field; undefined: it is absent. */
  field(table: number, number: number): number | undefined {
    const vtable = table - this.#view.getInt32(this.#within(table, 4), true);
    const nBytes = this.#view.getUint16(this.#within(vtable, 4), true);
    if (4 + 2 * number + 2 > nBytes) return undefined;
    const offset = this.#view.getUint16(this.#within(vtable + 4 + 2 * number, 2), true);
    return offset === 0 ? undefined : this.#within(table + offset, 1);
  }

  required(table: number, number: number): number {
    const at = this.field(table, number);
    if (at === undefined) throw new MemoryFileFault('the directory lacks a member');
    return this.pointer(at);
  }

  vector(at: number, most: number): Uint8Array {
    const length = this.u32(at);
    if (length > most) throw new MemoryFileFault('a member of the directory is too long');
    return this.#bytes.slice(this.#within(at + 4, length), at + 4 + length);
  }

  #within(at: number, nBytes: number): number {
    if (at >= 0 && at + nBytes <= this.#bytes.length) return at;
    throw new MemoryFileFault('the directory points outside of itself');
  }
}

export function aligned(at: number, to: number): number {
  return Math.ceil(at / to) * to;
}
