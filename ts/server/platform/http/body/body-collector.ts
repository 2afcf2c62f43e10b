/** Collects one request body under a limit. It has no socket: the exchange feeds it. */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

/** Pieces grow to this size, so that a large body is in few of them and a small one takes no more memory than it has bytes. */
const MOST_PIECE_BYTES = 4 * 1024 * 1024;
/** Up to here the bytes stay where they are. */
const MOST_KEPT_BYTES = 256 * 1024;

type Piece = Uint8Array<ArrayBuffer>;

/** The bytes as a thread gets them. */
export interface MovedBytes {
  port: MessagePort | undefined;
  last: Piece;
}

export class HeldBytes {
  sizeBytes = 0;
  #last: Piece = new Uint8Array();
  /** Bytes of the last piece that are free. */
  #capacity = 0;
  /** Pieces before the last go in at `port1`. */
  #earlier: MessageChannel | undefined;

  /** Copies them. */
  add(bytes: Uint8Array): void {
    const fitting = bytes.subarray(0, this.#capacity);
    if (fitting.length > 0) this.#last.set(fitting, this.#last.length - this.#capacity);
    this.#capacity -= fitting.length;
    if (fitting.length < bytes.length) this.#addPiece(bytes.subarray(fitting.length));
    this.sizeBytes += bytes.length;
  }

  /** All bytes at once, for those that are few. They are held no longer. */
  join(): Uint8Array {
    const bytes = joinBytes({ port: this.#earlier?.port2, last: this.#filled() });
    this.drop();
    return bytes;
  }

  /** Moves the bytes into a message to a thread; drop() is called once the thread has read them, or will not. */
  move(): { bytes: MovedBytes; transfer: (ArrayBuffer | MessagePort)[] } {
    const bytes = { port: this.#earlier?.port2, last: this.#filled() };
    return { bytes, transfer: bytes.port === undefined ? [bytes.last.buffer] : [bytes.last.buffer, bytes.port] };
  }

  /** Frees them, wherever they are. May be called again. */
  drop(): void {
    this.#earlier?.port1.close();
    this.#earlier = undefined;
    this.#last = new Uint8Array();
    this.#capacity = 0;
  }

  #addPiece(bytes: Uint8Array): void {
    const isLarge = this.sizeBytes + bytes.length > MOST_KEPT_BYTES;
    // A small body stays in one piece, which is copied as it grows; most come in one chunk and are copied once.
    const before = isLarge ? new Uint8Array() : this.#last;
    if (isLarge && this.#last.length > 0) this.#moveLast();
    const growth = Math.max(bytes.length, Math.min(this.sizeBytes, MOST_PIECE_BYTES));
    const piece: Piece = Buffer.allocUnsafeSlow(before.length + growth);
    piece.set(before);
    piece.set(bytes, before.length);
    this.#last = piece;
    this.#capacity = growth - bytes.length;
  }

  #moveLast(): void {
    this.#earlier ??= new MessageChannel();
    this.#earlier.port1.postMessage(this.#last, [this.#last.buffer]);
  }

  #filled(): Piece {
    return this.#last.subarray(0, this.#last.length - this.#capacity);
  }
}

/** The bytes again, on the thread that has them now. */
export function joinBytes({ port, last }: MovedBytes): Uint8Array {
  if (port === undefined) return last;
  const pieces: Uint8Array[] = [];
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) pieces.push(next.message as Uint8Array);
  port.close();
  return Buffer.concat([...pieces, last]);
}

/** Bytes of all bodies of this process that are being collected, or read in threads; keeps slow uploads from taking the memory. */
export class BodyBudget {
  readonly maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** False: the budget does not allow it, and nothing is reserved. */
  reserve(sizeBytes: number): boolean {
    if (this.#usedBytes + sizeBytes > this.maxBytes) return false;
    this.#usedBytes += sizeBytes;
    return true;
  }

  release(sizeBytes: number): void {
    this.#usedBytes -= sizeBytes;
  }
}

export type BodyOutcome =
  | { kind: 'complete'; body: HeldBytes }
  /** The rest was read and thrown away, as far as `drainBytes` allowed. */
  | { kind: 'too_large'; limitBytes: number; mustClose: boolean }
  | { kind: 'busy'; limitBytes: number; mustClose: boolean };

/** After the limit is passed, this much more is read before the connection is closed: closing early can lose the answer to a reset. */
const DRAIN_BYTES = 8 * 1024 * 1024;

export class BodyCollector {
  readonly #limitBytes: number;
  readonly #budget: BodyBudget;
  /** Undefined once the outcome was reported or the body was dropped. */
  #report: ((outcome: BodyOutcome) => void) | undefined;
  readonly #bytes = new HeldBytes();
  #reservedBytes = 0;
  #seenBytes = 0;
  #refusal: 'too_large' | 'busy' | undefined;

  constructor(limitBytes: number, budget: BodyBudget, report: (outcome: BodyOutcome) => void) {
    this.#limitBytes = limitBytes;
    this.#budget = budget;
    this.#report = report;
  }

  /** The chunk is copied: the socket takes its memory back on return. */
  add(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#report === undefined) return;
    this.#seenBytes += chunk.byteLength;
    if (this.#refusal === undefined) this.#hold(chunk);
    if (isLast) this.#finish(false);
    else if (this.#refusal !== undefined && this.#seenBytes > this.#limitBytes + DRAIN_BYTES) this.#finish(true);
  }

  /** The client went away, or the body is no longer wanted. Nothing more is reported. */
  drop(): void {
    this.#report = undefined;
    this.#bytes.drop();
    this.#releaseBudget();
  }

  #hold(chunk: ArrayBuffer): void {
    if (this.#seenBytes > this.#limitBytes) this.#refuse('too_large');
    else if (chunk.byteLength > 0 && !this.#budget.reserve(chunk.byteLength)) this.#refuse('busy');
    else if (chunk.byteLength > 0) {
      this.#reservedBytes += chunk.byteLength;
      this.#bytes.add(new Uint8Array(chunk));
    }
  }

  #refuse(kind: 'too_large' | 'busy'): void {
    this.#refusal = kind;
    this.#bytes.drop();
    this.#releaseBudget();
  }

  #finish(mustClose: boolean): void {
    const report = this.#report;
    this.#report = undefined;
    this.#releaseBudget();
    // The socket refers to this collector for as long as the request is open; the bytes are gone from it once they were read.
    if (this.#refusal === undefined) report?.({ kind: 'complete', body: this.#bytes });
    else report?.({ kind: this.#refusal, limitBytes: this.#limitBytes, mustClose });
  }

  #releaseBudget(): void {
    this.#budget.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }
}
