/** Server-sent events over one response: back-pressure, keep-alive comments, and a limit for clients that never read. */
import type { EventStream } from './route.ts';

/** What the socket offers; the exchange implements it. */
export interface StreamSink {
  /** False: the bytes are queued behind others and `drained` will be called. */
  write(chunk: Uint8Array | string): boolean;
  end(): void;
  /** Cuts the connection; `aborted` follows. */
  cut(): void;
}

export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/** Bytes that may queue behind a reader after write() said false, before the connection is cut. */
const MAX_QUEUED_BYTES = 8 * 1024 * 1024;
const PING = ':\n\n';
const nothing = (): void => undefined;

export class SocketEventStream implements EventStream {
  readonly #sink: StreamSink;
  readonly #heartbeat: Heartbeat;
  #open = true;
  #blocked = false;
  #queuedBytes = 0;
  #onDrain = nothing;
  #onClose = nothing;
  /** Beats since the last write: a counter, so that writing reads no clock. */
  quietBeats = 0;

  constructor(sink: StreamSink, heartbeat: Heartbeat) {
    this.#sink = sink;
    this.#heartbeat = heartbeat;
    heartbeat.add(this);
  }

  write(frames: Uint8Array | string): boolean {
    if (!this.#open) return false;
    this.quietBeats = 0;
    if (this.#sink.write(frames)) return true;
    this.#blocked = true;
    this.#queuedBytes += frames.length;
    if (this.#queuedBytes > MAX_QUEUED_BYTES) this.#sink.cut();
    return false;
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  onClose(callback: () => void): void {
    this.#onClose = callback;
  }

  end(): void {
    if (!this.#open) return;
    this.#leave();
    this.#sink.end();
  }

  ping(): void {
    if (!this.#blocked) this.write(PING);
  }

  /** The exchange reports that queued bytes went out. */
  drained(): void {
    if (!this.#open) return;
    this.#blocked = false;
    this.#queuedBytes = 0;
    this.#onDrain();
  }

  /** The exchange reports that the client went away. */
  aborted(): void {
    if (!this.#open) return;
    this.#leave();
    this.#onClose();
  }

  #leave(): void {
    this.#open = false;
    this.#heartbeat.delete(this);
  }
}

/** One timer for all streams; proxies and clients give up on silence. */
export class Heartbeat {
  readonly #streams = new Set<SocketEventStream>();
  readonly #timer: NodeJS.Timeout;
  readonly #quietBeatsAllowed = 3;

  /** `beatMs` is a third of the silence after which a comment is sent (default 15 s). */
  constructor(beatMs = 5_000) {
    this.#timer = setInterval(() => this.#beat(), beatMs);
    this.#timer.unref();
  }

  get size(): number {
    return this.#streams.size;
  }

  add(stream: SocketEventStream): void {
    this.#streams.add(stream);
  }

  delete(stream: SocketEventStream): void {
    this.#streams.delete(stream);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    for (const stream of this.#streams) {
      stream.quietBeats += 1;
      if (stream.quietBeats >= this.#quietBeatsAllowed) stream.ping();
    }
  }
}
