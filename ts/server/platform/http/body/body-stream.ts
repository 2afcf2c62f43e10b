/** A request body as it arrives. The client is only read from while the reader keeps up. */
import { HttpError } from '../errors.ts';

/** The exchange's means to slow the client down. */
export interface BodySocket {
  pause(): void;
  resume(): void;
}

/** Bytes that may wait for the reader before the socket is no longer read. */
const MAX_QUEUED_BYTES = 512 * 1024;
/** After the limit is passed, this much more is read and thrown away before the refusal, which a reset could otherwise overtake. */
const DRAIN_BYTES = 8 * 1024 * 1024;

/**
 * The library closes a connection ten seconds after it was paused or resumed, unless more of the body arrives: it knows nothing of a reader
 * that is slow, nor of an answer that takes its time. It is told anew this often.
 */
const KEEP_MS = 4_000;

/** The client went away, or the answer was sent, before the body was read to its end. */
export class BodyAborted extends Error {
  override readonly name = 'BodyAborted';
}

/** Can be read once. Reading throws HttpError 413 when the body is over the limit of the route, and BodyAborted. */
export class BodyStream implements AsyncIterable<Uint8Array> {
  /** The client sends on after the refusal: the connection has to be closed. */
  mustClose = false;
  readonly #limitBytes: number;
  readonly #socket: BodySocket;
  #chunks: Uint8Array[] = [];
  #queuedBytes = 0;
  #seenBytes = 0;
  #isWhole = false;
  #isPaused = false;
  #keeper: NodeJS.Timeout | undefined;
  #failure: Error | undefined;
  #wake = (): void => undefined;

  constructor(limitBytes: number, socket: BodySocket) {
    this.#limitBytes = limitBytes;
    this.#socket = socket;
  }

  /** The whole body has arrived, though it may not have been read. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The chunk is copied: the socket takes its memory back on return. */
  add(chunk: ArrayBuffer, isLast: boolean): void {
    this.#seenBytes += chunk.byteLength;
    this.#isWhole ||= isLast;
    if (this.#failure !== undefined) return;
    if (this.#seenBytes > this.#limitBytes) this.#overflow();
    else this.#hold(chunk);
  }

  /** Nothing more is wanted, since the answer goes out; what still arrives is thrown away. */
  drop(): void {
    clearInterval(this.#keeper);
    if (this.#isWhole && this.#chunks.length === 0) return;
    this.#fail(new BodyAborted('the request body ended before it was read'));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    while (true) {
      if (this.#failure !== undefined) throw this.#failure;
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#queuedBytes -= chunk.length;
        if (this.#queuedBytes === 0) this.#resume();
        yield chunk;
      } else if (this.#isWhole) return;
      else await this.#arrival();
    }
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #hold(chunk: ArrayBuffer): void {
    if (chunk.byteLength > 0) this.#chunks.push(new Uint8Array(chunk.slice(0)));
    this.#queuedBytes += chunk.byteLength;
    if (this.#queuedBytes > MAX_QUEUED_BYTES && !this.#isWhole) this.#pause();
    this.#wake();
  }

  #overflow(): void {
    this.#chunks = [];
    this.#queuedBytes = 0;
    this.#resume();
    this.mustClose = !this.#isWhole;
    if (this.#isWhole || this.#seenBytes > this.#limitBytes + DRAIN_BYTES) this.#fail(payloadTooLarge(this.#limitBytes));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#chunks = [];
    this.#queuedBytes = 0;
    this.#resume();
    this.#wake();
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
    this.#keeper ??= setInterval(() => this.#keep(), KEEP_MS).unref();
  }

  /** A client that stalls in the middle is none of it: while its turn lasts, the library's limit holds. */
  #keep(): void {
    if (!this.#isPaused && !this.#isWhole) return;
    this.#socket.resume();
    if (this.#isPaused) this.#socket.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }
}

export function payloadTooLarge(limitBytes: number): HttpError {
  const detail = `The request body is over the limit of ${limitBytes} bytes. Send less, or use the chunked upload.`;
  return new HttpError(413, 'payload_too_large', detail, { extra: { status: 413 } });
}
