/** Collects one request body under a limit. It has no socket: the exchange feeds it. */

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
  | { kind: 'complete'; body: CollectedBody }
  /** The rest was read and thrown away, as far as `drainBytes` allowed. */
  | { kind: 'too_large'; limitBytes: number; mustClose: boolean }
  | { kind: 'busy'; limitBytes: number; mustClose: boolean };

/** A whole body, in the pieces in which it was kept: joining a large one takes too long for the event loop. */
export interface CollectedBody {
  /** Each has a buffer of its own, which may move to another thread. */
  pieces: readonly Uint8Array<ArrayBuffer>[];
  sizeBytes: number;
}

/** Pieces grow to this size, so that a large body is in few of them and a small one takes no more memory than it has bytes. */
const MOST_PIECE_BYTES = 4 * 1024 * 1024;

/** After the limit is passed, this much more is read before the connection is closed: closing early can lose the answer to a reset. */
const DRAIN_BYTES = 8 * 1024 * 1024;

export class BodyCollector {
  readonly #limitBytes: number;
  readonly #budget: BodyBudget;
  /** Undefined once the outcome was reported or the body was dropped. */
  #report: ((outcome: BodyOutcome) => void) | undefined;
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  /** Bytes of the last piece that are free; the others are full. */
  #room = 0;
  #heldBytes = 0;
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

  /** The client went away, or the body is no longer wanted. Nothing is reported. */
  drop(): void {
    this.#report = undefined;
    this.#release();
  }

  #hold(chunk: ArrayBuffer): void {
    if (this.#seenBytes > this.#limitBytes) this.#refuse('too_large');
    else if (chunk.byteLength > 0 && !this.#budget.reserve(chunk.byteLength)) this.#refuse('busy');
    else if (chunk.byteLength > 0) this.#keep(new Uint8Array(chunk));
  }

  #keep(bytes: Uint8Array): void {
    const last = this.#pieces.at(-1);
    const fitting = bytes.subarray(0, this.#room);
    if (last !== undefined && fitting.length > 0) last.set(fitting, last.length - this.#room);
    this.#room -= fitting.length;
    const rest = bytes.subarray(fitting.length);
    if (rest.length > 0) {
      // A body that comes in one chunk, as most do, is kept as it is.
      const piece: Uint8Array<ArrayBuffer> = Buffer.allocUnsafeSlow(
        Math.max(rest.length, Math.min(this.#heldBytes, MOST_PIECE_BYTES)),
      );
      piece.set(rest);
      this.#pieces.push(piece);
      this.#room = piece.length - rest.length;
    }
    this.#heldBytes += bytes.length;
  }

  #refuse(kind: 'too_large' | 'busy'): void {
    this.#refusal = kind;
    this.#release();
  }

  #finish(mustClose: boolean): void {
    const report = this.#report;
    const outcome: BodyOutcome =
      this.#refusal === undefined
        ? { kind: 'complete', body: this.#takeBody() }
        : { kind: this.#refusal, limitBytes: this.#limitBytes, mustClose };
    // The socket refers to this collector for as long as the request is open, so it must not keep the body alive.
    this.drop();
    report?.(outcome);
  }

  #takeBody(): CollectedBody {
    const pieces = this.#pieces;
    const last = pieces.pop();
    if (last !== undefined) pieces.push(last.subarray(0, last.length - this.#room));
    return { pieces, sizeBytes: this.#heldBytes };
  }

  #release(): void {
    this.#pieces = [];
    this.#room = 0;
    this.#budget.release(this.#heldBytes);
    this.#heldBytes = 0;
  }
}
