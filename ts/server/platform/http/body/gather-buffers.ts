/**
 * Makes plain data ready to move between threads. Small typed arrays are copied into one common buffer, since each buffer that moves
 * costs the receiver time, and a small array may lie in a buffer that it shares with strangers. Large bytes are queued.
 */
import type { MessagePort } from 'node:worker_threads';
import { queueBytes } from './queued-bytes.ts';

/** Arrays of this size move on their own. */
const OWN_BUFFER_BYTES = 1024 * 1024;
/** Suits every element type. */
const ALIGNMENT = 8;

type Bytes = Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

export interface Gathered {
  value: unknown;
  /** The parts that move to the other thread. */
  transfer: (ArrayBuffer | MessagePort)[];
  /** The ports of queued bytes; the receiver closes those that it does not read to their end. */
  ports: MessagePort[];
}

/** Copies the objects and arrays of `value`; of typed arrays it knows Uint8Array and Int32Array. */
export function gatherBuffers(value: unknown): Gathered {
  const sizeBytes = measure(value);
  const gathering = new Gathering(sizeBytes);
  const gathered = gathering.visit(value);
  return { value: gathered, transfer: gathering.transfer, ports: gathering.ports };
}

class Gathering {
  readonly #common: ArrayBuffer;
  readonly ports: MessagePort[] = [];
  readonly #own = new Set<ArrayBuffer>();
  #at = 0;

  constructor(sizeBytes: number) {
    this.#common = new ArrayBuffer(sizeBytes);
  }

  get transfer(): (ArrayBuffer | MessagePort)[] {
    return [...(this.#common.byteLength > 0 ? [this.#common] : []), ...this.#own, ...this.ports];
  }

  visit(value: unknown): unknown {
    if (isBytes(value)) return this.#move(value);
    if (Array.isArray(value)) return value.map((each) => this.visit(each));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.visit(each)]));
  }

  #move(array: Bytes): unknown {
    if (array instanceof Uint8Array && array.length >= OWN_BUFFER_BYTES) {
      const queued = queueBytes(array);
      this.ports.push(queued.port);
      return queued;
    }
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

/** It goes into no common buffer. */
function isAlone(array: Bytes): boolean {
  const isWhole = array instanceof Uint8Array || array.byteLength === array.buffer.byteLength;
  return array.byteLength >= OWN_BUFFER_BYTES && isWhole;
}

function aligned(sizeBytes: number): number {
  return Math.ceil(sizeBytes / ALIGNMENT) * ALIGNMENT;
}
