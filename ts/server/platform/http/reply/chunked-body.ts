/**
 * A body of unknown length. The library sends what it has queued only together with a further write: behind a slow reader, the end of a
 * chunk may wait until the source yields the next one or ends.
 */
import type { ByteSink } from './byte-sink.ts';
import type { StreamSink } from './event-stream.ts';

export class ChunkedBody implements ByteSink {
  onDrain = (): void => undefined;
  onClose = (): void => undefined;
  readonly #sink: StreamSink;

  constructor(sink: StreamSink) {
    this.#sink = sink;
  }

  write(chunk: Uint8Array): boolean {
    return chunk.length === 0 || this.#sink.write(chunk);
  }

  end(): void {
    this.#sink.end();
  }

  cut(): void {
    this.#sink.cut();
  }

  drained(): boolean {
    this.onDrain();
    return true;
  }

  aborted(): void {
    this.onClose();
  }
}
