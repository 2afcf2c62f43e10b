/** The request as a handler gets it. It is a class, so that the abort signal is only made for handlers that ask for it. */
import type { Exchange } from './exchange.ts';
import type { ListenerName } from './listen/listener-name.ts';
import type { Principal } from './principal.ts';
import type { RequestContext } from './route.ts';

export interface RequestParts {
  params: unknown;
  query: unknown;
  body: unknown;
  caller: Principal;
  requestId: string;
  listener: ListenerName;
  recheck(): Promise<void>;
}

export class ExchangeContext implements RequestContext {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly caller: Principal;
  readonly requestId: string;
  readonly listener: ListenerName;
  readonly recheck: () => Promise<void>;
  readonly #exchange: Exchange;
  #controller: AbortController | undefined;

  constructor(exchange: Exchange, parts: RequestParts) {
    this.#exchange = exchange;
    this.params = parts.params;
    this.query = parts.query;
    this.body = parts.body;
    this.caller = parts.caller;
    this.requestId = parts.requestId;
    this.listener = parts.listener;
    this.recheck = parts.recheck;
  }

  get path(): string {
    return this.#exchange.path;
  }

  get headers(): ReadonlyMap<string, string> {
    return this.#exchange.headers;
  }

  get remoteAddress(): string {
    return this.#exchange.remoteAddress;
  }

  addHeader(name: string, value: string): void {
    this.#exchange.commonHeaders.push(name, value);
  }

  get isEncrypted(): boolean {
    return this.#exchange.isTls || this.#exchange.header('x-forwarded-proto') === 'https';
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      this.#exchange.whenAborted(() => controller.abort());
    }
    return this.#controller.signal;
  }
}
