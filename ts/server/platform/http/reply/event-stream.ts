/** Server-sent events over one response: back-pressure, keep-alive comments, and a limit for clients that never read. */
import type { EventStream } from './reply.ts';

/** The socket as an event stream uses it; the exchange implements it. */
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
  readonly #group: Set<SocketEventStream>;
  #open = true;
  #blocked = false;
  #queuedBytes = 0;
  /** The handler is done, and something waits for the reader. */
  #isEnding = false;
  #onDrain = nothing;
  #onClose = nothing;
  /** Beats since the last write: a counter, so that writing reads no clock. */
  quietBeats = 0;

  constructor(sink: StreamSink, heartbeat: Heartbeat) {
    this.#sink = sink;
    this.#group = heartbeat.join(this);
  }

  write(frames: Uint8Array | string): boolean {
    if (!this.#open || this.#isEnding) return false;
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
    if (!this.#open || this.#isEnding) return;
    if (this.#blocked) this.#isEnding = true;
    else this.#finish();
  }

  /** Ends the stream from outside of its handler, which then hears the same as when its client goes away. */
  interrupt(lastFrame: string): void {
    if (!this.#open) return;
    const isEnded = this.#isEnding;
    if (!isEnded) this.#sink.write(lastFrame);
    this.#finish();
    if (!isEnded) this.#onClose();
  }

  /** Nothing was written for a while. A reader of a stream that ends, who takes nothing for as long, is not waited for. */
  ping(): void {
    if (this.#isEnding) this.#sink.cut();
    else if (!this.#blocked) this.write(PING);
  }

  /**
   * The exchange reports that the socket takes bytes again. The library sends what it has queued only together with a further write, so
   * a comment goes out until nothing is queued any more.
   */
  writable(): void {
    if (!this.#open || !this.#blocked) return;
    this.quietBeats = 0;
    if (!this.#sink.write(PING)) return;
    this.#blocked = false;
    this.#queuedBytes = 0;
    if (this.#isEnding) this.#finish();
    else this.#onDrain();
  }

  /** The exchange reports that the client went away. */
  aborted(): void {
    if (!this.#open) return;
    this.#leave();
    if (!this.#isEnding) this.#onClose();
  }

  #finish(): void {
    this.#leave();
    this.#sink.end();
  }

  #leave(): void {
    this.#open = false;
    this.#group.delete(this);
  }
}

/** One beat writes to the streams of one group only, so that it holds the JS thread briefly. */
const GROUP_INTERVAL_MS = 50;

/** One timer for all streams, which serves one group after another; proxies and clients drop silent connections. */
export class Heartbeat {
  readonly #groups: Set<SocketEventStream>[];
  readonly #timer: NodeJS.Timeout;
  readonly #quietBeatsAllowed = 3;
  #nJoined = 0;
  #nBeats = 0;

  /** `beatMs` is a third of the silence after which a comment is sent (default 15 s). */
  constructor(beatMs = 5_000) {
    const nGroups = Math.max(1, Math.round(beatMs / GROUP_INTERVAL_MS));
    this.#groups = Array.from({ length: nGroups }, () => new Set());
    this.#timer = setInterval(() => this.#beat(this.#groupAt(this.#nBeats++)), beatMs / nGroups);
    this.#timer.unref();
  }

  /** The stream leaves by deleting itself from the group that it is given. */
  join(stream: SocketEventStream): Set<SocketEventStream> {
    return this.#groupAt(this.#nJoined++).add(stream);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #groupAt(index: number): Set<SocketEventStream> {
    return this.#groups[index % this.#groups.length] as Set<SocketEventStream>;
  }

  #beat(group: Iterable<SocketEventStream>): void {
    for (const stream of group) {
      stream.quietBeats += 1;
      if (stream.quietBeats >= this.#quietBeatsAllowed) stream.ping();
    }
  }
}
