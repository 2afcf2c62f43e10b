/**
 * One request on a uWebSockets.js socket, with its answer. This is the only file that imports the library, so its traps stay here and in
 * reply/answer.ts: the request is stack memory (copied before anything else), and every response has an abort handler.
 */

import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { type BodyBudget, BodyCollector, type BodyOutcome } from './body/body-collector.ts';
import { BodyStream } from './body/body-stream.ts';
import { type FramingFault, findFramingFault } from './listen/framing.ts';
import { Answer, type AnsweredRequest } from './reply/answer.ts';
import type { BytesReply } from './reply/reply.ts';
import type { SlowAnswer, UnsentBytes } from './reply/unsent-bytes.ts';

// Read once by the library when it loads; its default of 4 KiB is less than browsers and gateways send.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';
type Library = typeof import('uWebSockets.js') & { _cfg(option: string): void };
const uws = createRequire(import.meta.url)('uWebSockets.js') as Library;
// Leaves out the `uWebSockets: 20` header (the option's documented-in-source name).
uws._cfg('999999990007');

/** Shared by all exchanges on whose end nothing waits. */
const NO_CALLBACKS: (() => void)[] = [];

export class Exchange implements SlowAnswer, AnsweredRequest {
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
  readonly answer: Answer;
  /** Counts what the socket has not taken. */
  unsent: UnsentBytes | undefined;

  readonly #res: HttpResponse;
  #fields: string[] = [];
  #headers: Map<string, string> | undefined;
  #body: BodyCollector | BodyStream | undefined;
  #abortCallbacks: (() => void)[] = NO_CALLBACKS;

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
    this.answer = new Answer(res, this);
    res.onAborted(() => this.#aborted());
  }

  /** The answer has ended, or its client has gone away. */
  get done(): boolean {
    return this.answer.done;
  }

  get body(): BodyCollector | BodyStream | undefined {
    return this.#body;
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

  get isChunked(): boolean {
    return this.header('transfer-encoding') !== undefined;
  }

  get hasBody(): boolean {
    return this.isChunked || Number(this.header('content-length') ?? 0) > 0;
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
        if (!this.done) this.#res.pause();
      },
      resume: () => {
        if (!this.done) this.#res.resume();
      },
    });
    this.#body = body;
    if (this.hasBody) this.#res.onData((chunk, isLast) => body.add(chunk, isLast));
    else body.add(new ArrayBuffer(0), true);
    return body;
  }

  /** Called once when the client goes away before the end of the answer; at once when it is gone already. */
  whenAborted(callback: () => void): void {
    if (this.done) callback();
    else this.#abortCallbacks = [...this.#abortCallbacks, callback];
  }

  /** The body is no longer wanted; what still arrives is thrown away. */
  dropBody(): void {
    this.#body?.drop();
  }

  /** Cuts the connection; the abort handler and the open stream are told. */
  cut(): void {
    this.answer.cut();
  }

  /**
   * Ends the exchange from outside of its handler. An event stream gets a last frame, any other open answer is cut, and one that has not
   * begun becomes `refusal`. The handler hears the same as when its client goes away.
   */
  interrupt(lastFrame: string, refusal: Omit<BytesReply, 'kind'>): void {
    if (this.done) return;
    if (this.answer.isSendingBytes) {
      this.cut();
      return;
    }
    const callbacks = this.#abortCallbacks;
    // A last frame may wait for the socket, and the client may leave meanwhile: nobody hears of an end twice.
    this.#abortCallbacks = NO_CALLBACKS;
    this.#body?.drop();
    this.answer.interrupt(lastFrame, refusal);
    for (const callback of callbacks) callback();
  }

  /** Counts bytes of the answer that wait for the socket. */
  holdUnsent(bytes: number): void {
    this.unsent?.hold(this, bytes);
  }

  #aborted(): void {
    if (this.done) return;
    this.answer.finish(true);
    this.#body?.drop();
    for (const callback of this.#abortCallbacks) callback();
    this.answer.aborted();
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
export { uws };
