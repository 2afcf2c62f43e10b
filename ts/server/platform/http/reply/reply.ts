/** The kinds of answers that a handler can give. */
import type { FileHandle } from 'node:fs/promises';
import type { ReadableStream } from 'node:stream/web';

export type Reply = BytesReply | EventsReply | StreamReply | FileReply | ForwardReply;

/** Lowercase names. A list sends the field once for each value, as Set-Cookie needs it. */
export type ReplyHeaders = Readonly<Record<string, string | readonly string[]>>;

export interface BytesReply {
  kind: 'bytes';
  status: number;
  headers: ReplyHeaders;
  body: string | Uint8Array;
}

/** Server-sent events: status 200 and the headers go out at once, then start() writes as it likes. */
export interface EventsReply {
  kind: 'events';
  headers: ReplyHeaders;
  start(stream: EventStream): void;
}

export interface EventStream {
  /** Queues bytes (whole SSE frames). False: the client reads slowly; wait for onDrain. The bytes are copied. */
  write(frames: Uint8Array | string): boolean;
  /** Called each time the queue has gone out after write() said false. One callback: the last one registered. */
  onDrain(callback: () => void): void;
  /** Called once when the client goes away before end(). */
  onClose(callback: () => void): void;
  end(): void;
}

/** Bytes as they come. The next chunk is asked for when the client has taken the one before. */
export interface StreamReply {
  kind: 'stream';
  status: number;
  headers: ReplyHeaders;
  /** Sent as Content-Length; without it the body is chunked. A body of another length ends in a cut connection. */
  sizeBytes?: number;
  /** Closed (destroyed, cancelled or returned) when the client goes away. A chunk must not change until the next one is asked for. */
  body: ByteSource;
}

export type ByteSource = AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

/** A regular file, with validators, conditional requests and single ranges (RFC 9110 sections 13 and 14). */
export interface FileReply {
  kind: 'file';
  /** The headers, with `content-type`; the reply adds length, validators and ranges. */
  headers: ReplyHeaders;
  /** A path, or a handle that the reply closes. A file that is not there is answered with 404. */
  file: string | FileHandle;
  /** A quoted entity tag, for example of a content hash; by default one of the file's identity, size and time of change. */
  etag?: string;
}

/** The answer of another server, passed on as it comes. Hop-by-hop fields are left out in both directions (RFC 9110 section 7.6.1). */
export interface ForwardReply {
  kind: 'forward';
  url: string | URL;
  method: string;
  /** Fields of the request to send; credentials of the caller are only sent where they stand here. */
  headers: ReplyHeaders;
  body?: Uint8Array | ByteSource;
  /** The time from the start of the request to the head of the answer; 10 minutes by default. Afterwards only the client ends it. */
  headerTimeoutMs?: number;
}

export function json(status: number, body: unknown, headers: ReplyHeaders = {}): BytesReply {
  return { kind: 'bytes', status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
