/**
 * Bytes on their way to a worker thread, in pieces. They wait in the queue of a message port, outside of V8's memory: a hundred megabytes
 * of array buffers would have it collect garbage again and again, and joining them would hold up the event loop.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

/** Pieces grow to this size, so that a large body is in few of them and a small one takes no more memory than it has bytes. */
const MOST_PIECE_BYTES = 4 * 1024 * 1024;
/** Up to here the bytes stay where they are. */
const MOST_KEPT_BYTES = 256 * 1024;

type Piece = Uint8Array<ArrayBuffer>;

/** What a thread gets of them. */
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

  /** For a message to a thread; drop() is called once the thread has read them, or will not. */
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
