/**
 * Makes plain data ready to move between threads: small typed arrays are copied into one common buffer, since each buffer that moves
 * costs the receiver time, and a small array may lie in a buffer that it shares with strangers.
 */

/** Arrays of this size move in their own buffer. */
const OWN_BUFFER_BYTES = 1024 * 1024;
/** Suits every element type. */
const ALIGNMENT = 8;

type Bytes = Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

export interface Gathered {
  value: unknown;
  buffers: ArrayBuffer[];
}

/** Copies the objects and arrays of `value`; of typed arrays it knows Uint8Array and Int32Array. */
export function gatherBuffers(value: unknown): Gathered {
  const sizeBytes = measure(value);
  const gathering = new Gathering(sizeBytes);
  const gathered = gathering.visit(value);
  return { value: gathered, buffers: gathering.buffers };
}

class Gathering {
  readonly #common: ArrayBuffer;
  readonly #own = new Set<ArrayBuffer>();
  #at = 0;

  constructor(sizeBytes: number) {
    this.#common = new ArrayBuffer(sizeBytes);
  }

  get buffers(): ArrayBuffer[] {
    return this.#common.byteLength > 0 ? [this.#common, ...this.#own] : [...this.#own];
  }

  visit(value: unknown): unknown {
    if (isBytes(value)) return this.#move(value);
    if (Array.isArray(value)) return value.map((each) => this.visit(each));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.visit(each)]));
  }

  #move(array: Bytes): Bytes {
    if (isAlone(array)) {
      this.#own.add(array.buffer);
      return array;
    }
    const place = this.#at;
    this.#at += aligned(array.byteLength);
    const copy =
      array instanceof Int32Array ? new Int32Array(this.#common, place, array.length) : this.#bytes(place, array.length);
    copy.set(array);
    return copy;
  }

  #bytes(place: number, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#common, place, length);
  }
}

/** Bytes that the common buffer needs. */
function measure(value: unknown): number {
  if (isBytes(value)) return isAlone(value) ? 0 : aligned(value.byteLength);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + measure(each), 0);
}

function isBytes(value: unknown): value is Bytes {
  return value instanceof Uint8Array || value instanceof Int32Array;
}

function isAlone(array: Bytes): boolean {
  return array.byteLength >= OWN_BUFFER_BYTES && array.byteLength === array.buffer.byteLength;
}

function aligned(sizeBytes: number): number {
  return Math.ceil(sizeBytes / ALIGNMENT) * ALIGNMENT;
}
