/** Collects one request body under a limit. It has no socket: the exchange feeds it. */
import { HeldBytes } from './held-bytes.ts';

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
