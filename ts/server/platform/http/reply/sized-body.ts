/** A body of known length, sent piece by piece as the socket takes it: nothing is buffered behind a slow reader. */
import type { ByteSink } from './byte-sink.ts';

/** The library's functions for bodies of known length. */
export interface SizedSocket {
  /** Bytes of the body that were taken so far. */
  offset(): number;
  /** Sends what the socket takes of the chunk. `ok`: all of it; `done`: the response is complete and must not be touched any more. */
  tryEnd(chunk: Uint8Array): { ok: boolean; done: boolean };
  /** Called once, before the last bytes are sent. */
  completing(): void;
  completed(): void;
  cut(): void;
}

export class SizedBody implements ByteSink {
  onDrain = (): void => undefined;
  onClose = (): void => undefined;
  readonly #socket: SizedSocket;
  readonly #sizeBytes: number;
  #writtenBytes = 0;
  /** A chunk of which the rest waits for the socket, and the offset at which it began. */
  #pending: Uint8Array | undefined;
  #pendingOffset = 0;
  #isOver = false;

  constructor(socket: SizedSocket, sizeBytes: number) {
    this.#socket = socket;
    this.#sizeBytes = sizeBytes;
  }

  write(chunk: Uint8Array): boolean {
    if (chunk.length === 0) return true;
    this.#writtenBytes += chunk.length;
    if (this.#writtenBytes > this.#sizeBytes) throw new Error(`the body is longer than the ${this.#sizeBytes} bytes announced`);
    if (this.#isOver) return false;
    if (this.#writtenBytes === this.#sizeBytes) this.#socket.completing();
    this.#pendingOffset = this.#socket.offset();
    if (this.#send(chunk)) return true;
    this.#pending = chunk;
    return false;
  }

  /** The whole body, of which the socket took a part already. */
  wait(body: Uint8Array): void {
    this.#writtenBytes = body.length;
    this.#pending = body;
  }

  end(): void {
    const missingBytes = this.#sizeBytes - this.#writtenBytes;
    if (!this.#isOver && missingBytes > 0) throw new Error(`the body ended ${missingBytes} bytes before the announced end`);
  }

  cut(): void {
    if (!this.#isOver) this.#socket.cut();
  }

  /** The socket takes bytes again, from this offset on. True: it took all there is. */
  drained(offset: number): boolean {
    if (this.#isOver || this.#pending === undefined) return true;
    if (!this.#send(this.#pending.subarray(offset - this.#pendingOffset))) return false;
    this.#pending = undefined;
    this.onDrain();
    return true;
  }

  aborted(): void {
    this.#isOver = true;
    this.onClose();
  }

  #send(chunk: Uint8Array): boolean {
    const { ok, done } = this.#socket.tryEnd(chunk);
    if (done) {
      this.#isOver = true;
      this.#socket.completed();
    }
    return ok || done;
  }
}
