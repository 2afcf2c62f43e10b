/** Moves a source's chunks to a response, no faster than the client takes them. */
import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import type { ByteSink } from './byte-sink.ts';
import type { ByteSource } from './reply.ts';

/** Resolves when the source is at its end, or when the client went away and the source was closed. Rejects with the source's error. */
export async function pump(source: ByteSource, sink: ByteSink): Promise<void> {
  const readable = toIterable(source);
  const iterator = readable[Symbol.asyncIterator]();
  const gate = new Gate(sink);
  try {
    while (!gate.isClosed) {
      const result = await Promise.race([iterator.next(), gate.closed]);
      if (result === undefined || gate.isClosed) return;
      if (result.done === true) return sink.end();
      if (!sink.write(result.value)) await gate.drained();
    }
  } catch (error) {
    if (!gate.isClosed) throw error;
  } finally {
    close(readable, iterator);
  }
}

/** Closes a source of which nothing is wanted. */
export function closeSource(source: ByteSource): void {
  const readable = toIterable(source);
  close(readable, readable[Symbol.asyncIterator]());
}

function toIterable(source: ByteSource): AsyncIterable<Uint8Array> {
  return source instanceof ReadableStream ? Readable.fromWeb(source) : source;
}

/** A generator that waits for something is only closed once it goes on; streams are closed at once. */
function close(source: AsyncIterable<Uint8Array>, iterator: AsyncIterator<Uint8Array>): void {
  if (source instanceof Readable) source.destroy();
  else iterator.return?.().catch(() => undefined);
}

/** Turns what the sink reports into promises. */
class Gate {
  isClosed = false;
  readonly closed: Promise<undefined>;
  #wake = (): void => undefined;

  constructor(sink: ByteSink) {
    this.closed = new Promise((resolve) => {
      sink.onClose = () => {
        this.isClosed = true;
        resolve(undefined);
        this.#wake();
      };
    });
    sink.onDrain = () => this.#wake();
  }

  drained(): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
