/**
 * The answer of an exchange on its socket. A response must not be touched after it ended or aborted, and writes outside the handler are
 * corked: both traps of the library stay here.
 */
import { STATUS_CODES } from 'node:http';
import type { BodyCollector } from '../body/body-collector.ts';
import { BodyStream } from '../body/body-stream.ts';
import type { HttpResponse } from '../exchange.ts';
import type { ByteSink } from './byte-sink.ts';
import { ChunkedBody } from './chunked-body.ts';
import { type Heartbeat, SocketEventStream, type StreamSink } from './event-stream.ts';
import type { BytesReply, EventStream, ReplyHeaders } from './reply.ts';
import { SizedBody, type SizedSocket } from './sized-body.ts';

export const STATUS_LINES = new Map(Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]));

/** The bytes that a socket takes at once. */
const SMALL_BYTES = 64 * 1024;

/** How an exchange ended, for the access log and the metrics. */
export interface ExchangeEnd {
  status: number;
  sentBytes: number;
  aborted: boolean;
}

/** The request of an answer, as far as the answer depends on it. */
export interface AnsweredRequest {
  readonly method: string;
  /** The body, where one is taken. */
  readonly body: BodyCollector | BodyStream | undefined;
  readonly isChunked: boolean;
  /** Is told how many bytes wait for the socket, when their number changes. */
  holdUnsent(bytes: number): void;
}

export class Answer {
  /** Headers that every answer of this exchange carries: name, value, name, value ... */
  readonly commonHeaders: string[] = [];
  /**
   * Closes the connection after the answer. Only a head can say so: an answer that is open already ends as it began, and its connection is
   * closed by the client, by the library once it is idle, or with the listener.
   */
  closeAfter = false;
  onEnd: (end: ExchangeEnd) => void = () => undefined;

  readonly #res: HttpResponse;
  readonly #request: AnsweredRequest;
  /** The open response body, which is told when the client goes away. */
  #open: SocketEventStream | ChunkedBody | SizedBody | undefined;
  #done = false;
  #status = 0;
  #sentBytes = 0;
  #unsentBytes = 0;

  constructor(res: HttpResponse, request: AnsweredRequest) {
    this.#res = res;
    this.#request = request;
  }

  get done(): boolean {
    return this.#done;
  }

  /** Bytes of a body are being sent: such an answer can only be cut. */
  get isSendingBytes(): boolean {
    return this.#open !== undefined && !(this.#open instanceof SocketEventStream);
  }

  /** Cuts the connection; the abort handler and the open stream are told. */
  cut(): void {
    if (!this.#done) this.#res.close();
  }

  /** Gives an event stream its last frame; an answer that has not begun becomes `refusal`. */
  interrupt(lastFrame: string, refusal: Omit<BytesReply, 'kind'>): void {
    if (this.#open instanceof SocketEventStream) this.#open.interrupt(lastFrame);
    else this.reply(refusal.status, refusal.headers, refusal.body);
  }

  /** Answers at once; a body that is still arriving is read and thrown away by the library. */
  reply(status: number, headers: ReplyHeaders, body: string | Uint8Array): void {
    if (this.#done) return;
    this.#leaveBody();
    if (body.length > 0 && this.#mayWait(body.length) && this.#request.method !== 'HEAD' && status !== 204 && status !== 304) {
      this.#replyWhole(status, headers, body);
      return;
    }
    this.#res.cork(() => {
      this.#writeHead(status, headers);
      if (this.#request.method === 'HEAD') this.#endHead(Buffer.byteLength(body));
      else if (status === 204 || status === 304) this.#endWithoutBody();
      else this.#res.end(body, this.closeAfter);
    });
    this.#sentBytes = body.length;
    this.finish(false);
  }

  /**
   * Told to close, end() keeps what the socket does not take in the library, where a stop cuts it. A large answer says in its head that the connection
   * closes, and is waited for; only behind a body that still arrives must end() close.
   */
  #mayWait(sizeBytes: number): boolean {
    return !this.closeAfter || (sizeBytes > SMALL_BYTES && !(this.#request.body instanceof BodyStream));
  }

  /** Nothing is buffered behind what the socket takes: the rest waits here, and the connection serves no other request meanwhile. */
  #replyWhole(status: number, headers: ReplyHeaders, body: string | Uint8Array): void {
    const sizeBytes = Buffer.byteLength(body);
    let isDone = false;
    this.#res.cork(() => {
      this.#writeHead(status, headers);
      this.#announceClose();
      isDone = this.#res.tryEnd(body as string | Uint8Array<ArrayBuffer>, sizeBytes)[1];
    });
    this.#sentBytes = sizeBytes;
    if (isDone) {
      this.finish(false);
      return;
    }
    const rest = new SizedBody(this.#sizedSocket(sizeBytes), sizeBytes);
    this.#open = rest;
    this.#res.onWritable((offset) => rest.drained(offset));
    rest.wait(typeof body === 'string' ? Buffer.from(body) : body);
    this.#holdUnsent(sizeBytes - this.#res.getWriteOffset());
  }

  /** For HEAD, 204 and 304, and for empty bodies. HEAD tells the size that GET would send, where it is known. */
  replyWithoutBody(status: number, headers: ReplyHeaders, sizeBytes: number | undefined): void {
    if (this.#done) return;
    this.#leaveBody();
    this.#res.cork(() => {
      this.#writeHead(status, headers);
      if (status === 204 || status === 304 || (this.#request.method === 'HEAD' && sizeBytes === undefined))
        this.#endWithoutBody();
      else if (this.#request.method === 'HEAD') this.#endHead(sizeBytes ?? 0);
      else this.#res.end('', this.closeAfter);
    });
    this.finish(false);
  }

  /** Sends the status and the headers; the body goes through the sink. Without a size it is chunked. */
  openBytes(status: number, headers: ReplyHeaders, sizeBytes: number | undefined): ByteSink {
    const body = sizeBytes === undefined ? new ChunkedBody(this.#sink()) : new SizedBody(this.#sizedSocket(sizeBytes), sizeBytes);
    if (this.#done) {
      queueMicrotask(() => body.aborted());
      return body;
    }
    this.#open = body;
    this.#res.onWritable((offset) => body.drained(offset));
    this.#res.cork(() => {
      this.#writeHead(status, headers);
      this.#announceClose();
    });
    return body;
  }

  /** Sends the status and the headers at once and leaves the response open. */
  openEvents(status: number, headers: ReplyHeaders, heartbeat: Heartbeat): EventStream {
    const stream = new SocketEventStream(this.#sink(), heartbeat);
    if (this.#done) {
      // The client left while the handler prepared: tell the handler once it has registered its callbacks.
      queueMicrotask(() => stream.aborted());
      return stream;
    }
    this.#open = stream;
    this.#res.onWritable(() => {
      stream.writable();
      return true;
    });
    this.#res.cork(() => {
      this.#writeHead(status, headers);
      this.#announceClose();
      // The library sends nothing before the first chunk; an SSE comment flushes the headers while the prompt is evaluated.
      this.#res.write(':\n\n');
    });
    return stream;
  }

  #sink(): StreamSink {
    let next: Uint8Array | string = '';
    let accepted = true;
    // One closure for the life of the stream: writing allocates nothing.
    const writeNext = (): void => {
      accepted = this.#res.write(next);
    };
    return {
      write: (chunk) => {
        if (this.#done) return false;
        // A zero-length chunk would end the chunked encoding.
        if (chunk.length === 0) return accepted;
        next = chunk;
        this.#sentBytes += chunk.length;
        this.#res.cork(writeNext);
        next = '';
        this.#holdUnsent(accepted ? 0 : this.#unsentBytes + chunk.length);
        return accepted;
      },
      end: () => {
        if (this.#done) return;
        this.#leaveBody();
        // Told to close, the library would write the header into the body.
        this.#res.cork(() => this.#res.end());
        this.finish(false);
      },
      cut: () => this.cut(),
    };
  }

  #sizedSocket(sizeBytes: number): SizedSocket {
    let chunk = new Uint8Array();
    let outcome: [boolean, boolean] = [false, false];
    const sendChunk = (): void => {
      outcome = this.#res.tryEnd(chunk, sizeBytes);
    };
    return {
      offset: () => this.#res.getWriteOffset(),
      tryEnd: (next) => {
        chunk = next as Uint8Array<ArrayBuffer>;
        this.#res.cork(sendChunk);
        const [ok, done] = outcome;
        if (!done) this.#holdUnsent(ok ? 0 : chunk.length);
        return { ok, done };
      },
      completing: () => this.#leaveBody(),
      completed: () => {
        this.#sentBytes = sizeBytes;
        this.finish(false);
      },
      cut: () => this.cut(),
    };
  }

  /**
   * The answer ends now, whatever still arrives. The library reads past a rest of known length; a chunked one may have no end, so its
   * connection closes. Behind a head that is out nothing more is read, and the library closes what is idle.
   */
  #leaveBody(): void {
    const { body } = this.#request;
    if (!(body instanceof BodyStream)) return;
    body.drop();
    if (body.isWhole || !(body.mustClose || this.#request.isChunked)) return;
    if (this.#open === undefined) this.closeAfter = true;
    else this.#res.pause();
  }

  #writeHead(status: number, headers: ReplyHeaders): void {
    this.#status = status;
    this.#res.writeStatus(STATUS_LINES.get(status) ?? `${status} Status`);
    writeHeaders(this.#res, headers);
    for (let i = 0; i < this.commonHeaders.length; i += 2) {
      this.#res.writeHeader(this.commonHeaders[i] ?? '', this.commonHeaders[i + 1] ?? '');
    }
  }

  /** For answers whose end is not `end(body, true)`, which writes the header itself. */
  #announceClose(): void {
    if (this.closeAfter) this.#res.writeHeader('connection', 'close');
  }

  /** Told to close, endWithoutBody would announce a length of 2^63. */
  #endWithoutBody(): void {
    this.#announceClose();
    this.#res.endWithoutBody();
  }

  /**
   * Given a length, endWithoutBody leaves the response unfinished, so the length is written by hand. Only end() closes, and it writes
   * the length of what it sends: a HEAD answer that closes says 0.
   */
  #endHead(sizeBytes: number): void {
    if (this.closeAfter) this.#res.end('', true);
    else this.#res.writeHeader('content-length', String(sizeBytes)).endWithoutBody();
  }

  /** The client went away: the open body is told. */
  aborted(): void {
    this.#open?.aborted();
  }

  #holdUnsent(bytes: number): void {
    if (bytes === this.#unsentBytes) return;
    this.#unsentBytes = bytes;
    this.#request.holdUnsent(bytes);
  }

  /** Nothing of the answer is sent from now on. */
  finish(aborted: boolean): void {
    this.#done = true;
    this.#holdUnsent(0);
    this.onEnd({ status: this.#status, sentBytes: this.#sentBytes, aborted });
  }
}

export function writeHeaders(res: HttpResponse, headers: ReplyHeaders): void {
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string') res.writeHeader(name, value);
    else for (const one of value ?? []) res.writeHeader(name, one);
  }
}
