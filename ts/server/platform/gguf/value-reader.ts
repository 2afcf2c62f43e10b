import type { FileCursor } from './file-cursor.ts';
import { GgufError } from './gguf-error.ts';
import type { GgufLimits } from './gguf-limits.ts';
import {
  findGgufTypeName,
  type GgufArray,
  type GgufElements,
  type GgufElementType,
  type GgufScalar,
  type GgufValue,
  ggufArrayTypeId,
  ggufTypes,
} from './gguf-value.ts';

const fatalUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads metadata values within limits; every byte that it keeps is first charged to one budget. */
export class ValueReader {
  readonly #cursor: FileCursor;
  readonly #limits: GgufLimits;
  readonly #loadBigArrays: boolean;
  #keptBytes = 0;

  constructor(cursor: FileCursor, limits: GgufLimits, loadBigArrays: boolean) {
    this.#cursor = cursor;
    this.#limits = limits;
    this.#loadBigArrays = loadBigArrays;
  }

  /** A key or tensor name: valid UTF-8, not empty, no NUL (C code downstream would see a shorter name). */
  async name(what: string, maxBytes: number): Promise<string> {
    const offset = this.#cursor.offset;
    const bytes = await this.#stringBytes(what, maxBytes);
    const expected = `${what} of 1 to ${maxBytes} bytes of UTF-8 without NUL`;
    if (bytes.length === 0) throw new GgufError({ code: 'invalid', offset, expected, found: 'an empty string' });
    if (bytes.includes(0)) throw new GgufError({ code: 'invalid', offset, expected, found: 'a NUL byte' });
    try {
      return fatalUtf8.decode(bytes);
    } catch {
      throw new GgufError({ code: 'invalid', offset, expected, found: 'bytes that are not UTF-8' });
    }
  }

  async value(key: string): Promise<GgufValue> {
    await this.#cursor.need(4, `the type of ${key}`);
    const offset = this.#cursor.offset;
    const id = this.#cursor.u32();
    if (id === ggufArrayTypeId) return this.#array(key);
    const type = this.#type(id, offset, `the type of ${key}`);
    return { type, value: await this.#element(type, `the value of ${key}`) } as GgufScalar;
  }

  async #array(key: string): Promise<GgufArray> {
    await this.#cursor.need(12, `the array header of ${key}`);
    const offset = this.#cursor.offset;
    const elementType = this.#type(this.#cursor.u32(), offset, `the element type of ${key} (arrays do not nest)`);
    const length = this.#cursor.u64(`the length of ${key}`);
    if (length > this.#limits.maxArrayElements) {
      const expected = `at most ${this.#limits.maxArrayElements} elements in ${key}`;
      throw new GgufError({ code: 'too_large', offset, expected, found: String(length) });
    }
    const leastBytes = length * ggufTypes[elementType].bytes;
    if (leastBytes > this.#cursor.remaining) {
      const found = `${this.#cursor.remaining} bytes before the end of the file`;
      throw new GgufError({ code: 'truncated', offset, expected: `at least ${leastBytes} bytes of ${key}`, found });
    }
    if (length > this.#limits.bigArrayElements && !this.#loadBigArrays) {
      await this.#skip(elementType, length, key);
      return { type: 'array', elementType, length };
    }
    return { type: 'array', elementType, length, values: await this.#elements(elementType, length, key) };
  }

  async #elements(type: GgufElementType, length: number, key: string): Promise<GgufElements> {
    const what = `an element of ${key}`;
    const values: unknown[] = [];
    for (let i = 0; i < length; i++) values.push(await this.#element(type, what));
    return values as unknown as GgufElements;
  }

  async #skip(type: GgufElementType, length: number, key: string): Promise<void> {
    if (type !== 'string') return this.#cursor.skip(length * ggufTypes[type].bytes, key);
    const what = `a string of ${key}`;
    const maxBytes = this.#limits.maxStringBytes;
    for (let left = length; left > 0; ) {
      if (!this.#cursor.has(8)) await this.#cursor.need(8, what);
      const nSkipped = this.#cursor.skipStrings(left, maxBytes);
      left -= nSkipped;
      // What it stopped at: one that is refused, or the first beyond the window.
      if (left === 0 || (nSkipped > 0 && !this.#cursor.has(8))) continue;
      this.#cursor.skip(this.#stringLength(what, maxBytes), what);
      left--;
    }
  }

  async #element(type: GgufElementType, what: string): Promise<number | bigint | boolean | string> {
    if (type === 'string') {
      const bytes = await this.#stringBytes(what, this.#limits.maxStringBytes);
      return bytes.toString('utf8');
    }
    const { bytes } = ggufTypes[type];
    if (!this.#cursor.has(bytes)) await this.#cursor.need(bytes, what);
    this.#charge(8);
    return decode[type](this.#cursor.take(bytes));
  }

  async #stringBytes(what: string, maxBytes: number): Promise<Buffer> {
    if (!this.#cursor.has(8)) await this.#cursor.need(8, what);
    const length = this.#stringLength(what, maxBytes);
    this.#charge(length + 16);
    if (!this.#cursor.has(length)) await this.#cursor.need(length, what);
    return this.#cursor.take(length);
  }

  #stringLength(what: string, maxBytes: number): number {
    const offset = this.#cursor.offset;
    const length = this.#cursor.u64(`the length of ${what}`);
    if (length > maxBytes) {
      throw new GgufError({
        code: 'too_large',
        offset,
        expected: `${what} of at most ${maxBytes} bytes`,
        found: `${length} bytes`,
      });
    }
    return length;
  }

  #charge(bytes: number): void {
    this.#keptBytes += bytes;
    if (this.#keptBytes <= this.#limits.maxKeptBytes) return;
    const expected = `at most ${this.#limits.maxKeptBytes} bytes of metadata`;
    throw new GgufError({ code: 'too_large', offset: this.#cursor.offset, expected, found: 'more' });
  }

  #type(id: number, offset: number, what: string): GgufElementType {
    const type = findGgufTypeName(id);
    if (!type)
      throw new GgufError({ code: 'invalid', offset, expected: `${what}: a value type from 0 to 12`, found: String(id) });
    return type;
  }
}

const decode: Record<Exclude<GgufElementType, 'string'>, (bytes: Buffer) => number | bigint | boolean> = {
  uint8: (bytes) => bytes.readUInt8(0),
  int8: (bytes) => bytes.readInt8(0),
  uint16: (bytes) => bytes.readUInt16LE(0),
  int16: (bytes) => bytes.readInt16LE(0),
  uint32: (bytes) => bytes.readUInt32LE(0),
  int32: (bytes) => bytes.readInt32LE(0),
  float32: (bytes) => bytes.readFloatLE(0),
  float64: (bytes) => bytes.readDoubleLE(0),
  uint64: (bytes) => bytes.readBigUInt64LE(0),
  int64: (bytes) => bytes.readBigInt64LE(0),
  bool: (bytes) => bytes.readUInt8(0) !== 0,
};
