/**
 * One request and its response on a uWebSockets.js socket. The only file that imports the library, so its traps stay here:
 * the request is stack memory (copied before anything else), a response must not be touched after it ended or aborted,
 * writes outside the handler are corked, and every response has an abort handler.
 */

import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { createRequire } from 'node:module';
import { type BodyBudget, BodyCollector, type BodyOutcome } from './body/body-collector.ts';
import { BodyStream } from './body/body-stream.ts';
import { type FramingFault, findFramingFault } from './listen/framing.ts';
import type { ByteSink } from './reply/byte-sink.ts';
import { ChunkedBody } from './reply/chunked-body.ts';
import { type Heartbeat, SocketEventStream, type StreamSink } from './reply/event-stream.ts';
import type { BytesReply, EventStream, ReplyHeaders } from './reply/reply.ts';
import { SizedBody, type SizedSocket } from './reply/sized-body.ts';
import type { SlowAnswer, UnsentBytes } from './reply/unsent-bytes.ts';

// Read once by the library when it loads; its default of 4 KiB is less than browsers and gateways send.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';
type Library = typeof import('uWebSockets.js') & { _cfg(option: string): void };
const uws = createRequire(import.meta.url)('uWebSockets.js') as Library;
// Leaves out the `uWebSockets: 20` header (the option's documented-in-source name).
uws._cfg('999999990007');

const STATUS_LINES = new Map(Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]));

/** Shared by all exchanges on whose end nothing waits. */
const NO_CALLBACKS: (() => void)[] = [];

/** The bytes that a socket takes at once. */
const SMALL_BYTES = 64 * 1024;

/** How an exchange ended, for the access log and the metrics. */
export interface ExchangeEnd {
  status: number;
  sentBytes: number;
  aborted: boolean;
}

export class Exchange implements SlowAnswer {
  readonly method: string;
  /** The path without the query; percent-encoding is as it was sent. */
  readonly path: string;
  readonly query: string;
  /** The address of the socket: the client, or the last proxy before it. */
  readonly peerAddress: string;
  /** The client's address, as far as it is known; the peer's until the router has read what proxies say. */
  remoteAddress: string;
  requestId = '';
  /** The caller whose share of unsent bytes the answer takes: the account, once it is known, or the address. */
  callerKey = '';
  /** The socket speaks TLS. */
  readonly isTls: boolean;
  readonly framingFault: FramingFault | undefined;
  /** Headers that every answer of this exchange carries: name, value, name, value ... */
  readonly commonHeaders: string[] = [];
  /**
   * Closes the connection after the answer. Only a head can say so: an answer that is open already ends as it began, and its connection is
   * closed by the client, by the library once it is idle, or with the listener.
   */
  closeAfter = false;
  onEnd: (end: ExchangeEnd) => void = () => undefined;
  /** Counts what the socket has not taken. */
  unsent: UnsentBytes | undefined;

  readonly #res: HttpResponse;
  #fields: string[] = [];
  #headers: Map<string, string> | undefined;
  #body: BodyCollector | BodyStream | undefined;
  /** The open response body, which is told when the client goes away. */
  #open: SocketEventStream | ChunkedBody | SizedBody | undefined;
  #abortCallbacks: (() => void)[] = NO_CALLBACKS;
  #done = false;
  #status = 0;
  #sentBytes = 0;
  #unsentBytes = 0;

  constructor(res: HttpResponse, req: HttpRequest, isTls: boolean) {
    this.#res = res;
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    this.query = req.getQuery() ?? '';
    req.forEach((name, value) => {
      this.#fields.push(name, value);
    });
    this.peerAddress = Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
    this.remoteAddress = this.peerAddress;
    this.isTls = isTls;
    this.framingFault = findFramingFault(this.method, this.#fields);
    res.onAborted(() => this.#aborted());
  }

  get done(): boolean {
    return this.#done;
  }

  /** Lowercase names; repeated fields are joined as RFC 9110 section 5.3 says. */
  get headers(): ReadonlyMap<string, string> {
    if (this.#headers === undefined) {
      this.#headers = joinFields(this.#fields);
      this.#fields = [];
    }
    return this.#headers;
  }

  header(name: string): string | undefined {
    return this.headers.get(name);
  }

  get hasBody(): boolean {
    return this.header('transfer-encoding') !== undefined || Number(this.header('content-length') ?? 0) > 0;
  }

  /** Must be called before the handler yields: data that arrives without a listener is lost. The promise stays pending if the client goes away. */
  collectBody(limitBytes: number, budget: BodyBudget): Promise<BodyOutcome> {
    return new Promise((resolve) => {
      const collector = new BodyCollector(limitBytes, budget, resolve);
      this.#body = collector;
      this.#res.onData((chunk, isLast) => collector.add(chunk, isLast));
    });
  }

  /** Must be called before the handler yields, like collectBody. */
  streamBody(limitBytes: number): BodyStream {
    const body = new BodyStream(limitBytes, {
      pause: () => {
        if (!this.#done) this.#res.pause();
      },
      resume: () => {
        if (!this.#done) this.#res.resume();
      },
    });
    this.#body = body;
    if (this.hasBody) this.#res.onData((chunk, isLast) => body.add(chunk, isLast));
    else body.add(new ArrayBuffer(0), true);
    return body;
  }

  /** Called once when the client goes away before the end of the answer; at once when it is gone already. */
  whenAborted(callback: () => void): void {
    if (this.#done) callback();
    else this.#abortCallbacks = [...this.#abortCallbacks, callback];
  }

  /** The body is no longer wanted; what still arrives is thrown away. */
  dropBody(): void {
    this.#body?.drop();
  }

  /** Cuts the connection; the abort handler and the open stream are told. */
  cut(): void {
    if (!this.#done) this.#res.close();
  }

  /**
   * Ends the exchange from outside of its handler. An event stream gets a last frame, any other open answer is cut, and one that has not
   * begun becomes `refusal`. The handler hears the same as when its client goes away.
   */
  interrupt(lastFrame: string, refusal: Omit<BytesReply, 'kind'>): void {
    if (this.#done) return;
    const open = this.#open;
    if (open !== undefined && !(open instanceof SocketEventStream)) {
      this.cut();
      return;
    }
    const callbacks = this.#abortCallbacks;
    // A last frame may wait for the socket, and the client may leave meanwhile: nobody hears of an end twice.
    this.#abortCallbacks = NO_CALLBACKS;
    this.#body?.drop();
    if (open === undefined) this.reply(refusal.status, refusal.headers, refusal.body);
    else open.interrupt(lastFrame);
    for (const callback of callbacks) callback();
  }

  /** Answers at once; a body that is still arriving is read and thrown away by the library. */
  reply(status: number, headers: ReplyHeaders, body: string | Uint8Array): void {
    if (this.#done) return;
    this.#leaveBody();
    if (body.length > 0 && this.#mayWait(body.length) && this.method !== 'HEAD' && status !== 204 && status !== 304) {
      this.#replyWhole(status, headers, body);
      return;
    }
    this.#res.cork(() => {
      this.#writeHead(status, headers);
      if (this.method === 'HEAD') this.#endHead(Buffer.byteLength(body));
      else if (status === 204 || status === 304) this.#endWithoutBody();
      else this.#res.end(body, this.closeAfter);
    });
    this.#sentBytes = body.length;
    this.#finish(false);
  }

  /**
   * Told to close, end() keeps what the socket does not take in the library, where a stop cuts it. A large answer says in its head that the connection
   * closes, and is waited for; only behind a body that still arrives must end() close.
   */
  #mayWait(sizeBytes: number): boolean {
    return !this.closeAfter || (sizeBytes > SMALL_BYTES && !(this.#body instanceof BodyStream));
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
      this.#finish(false);
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
      if (status === 204 || status === 304 || (this.method === 'HEAD' && sizeBytes === undefined)) this.#endWithoutBody();
      else if (this.method === 'HEAD') this.#endHead(sizeBytes ?? 0);
      else this.#res.end('', this.closeAfter);
    });
    this.#finish(false);
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
        this.#finish(false);
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
        this.#finish(false);
      },
      cut: () => this.cut(),
    };
  }

  /**
   * The answer ends now, whatever still arrives. The library reads past a rest of known length; a chunked one may have no end, so its
   * connection closes. Behind a head that is out nothing more is read, and the library closes what is idle.
   */
  #leaveBody(): void {
    const body = this.#body;
    if (!(body instanceof BodyStream)) return;
    body.drop();
    if (body.isWhole || !(body.mustClose || this.header('transfer-encoding') !== undefined)) return;
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

  #aborted(): void {
    if (this.#done) return;
    this.#finish(true);
    this.#body?.drop();
    for (const callback of this.#abortCallbacks) callback();
    this.#open?.aborted();
  }

  #holdUnsent(bytes: number): void {
    if (bytes === this.#unsentBytes) return;
    this.#unsentBytes = bytes;
    this.unsent?.hold(this, bytes);
  }

  #finish(aborted: boolean): void {
    this.#done = true;
    this.#holdUnsent(0);
    this.onEnd({ status: this.#status, sentBytes: this.#sentBytes, aborted });
  }
}

function writeHeaders(res: HttpResponse, headers: ReplyHeaders): void {
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string') res.writeHeader(name, value);
    else for (const one of value ?? []) res.writeHeader(name, one);
  }
}

function joinFields(fields: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] ?? '';
    const value = fields[i + 1] ?? '';
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`);
  }
  return headers;
}

export type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket };
export { STATUS_LINES, uws, writeHeaders };
