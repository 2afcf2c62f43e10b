/**
 * The client for all requests to other servers. It keeps connections in a pool for each origin, judges every address where it connects, follows
 * redirects one by one, obeys the proxy of the environment, and limits the time of each stage and the bytes of an answer.
 */
import type { ConnectionOptions } from 'node:tls';
import type { AddressPolicy } from './address-policy.ts';
import type { StageLimits } from './http-client-error.ts';
import type { HttpConnections } from './http-connections.ts';
import type { HttpResponse, Redirect } from './http-response.ts';

export interface HttpClientOptions extends Partial<StageLimits> {
  /** Judges every address. Undefined: the operator named what is called, and all addresses are. */
  readonly policy?: AddressPolicy | undefined;
  /** How long an unused connection stays open, where the server does not say. */
  readonly keepAliveMs?: number;
  /** Most connections to one origin; further requests wait. */
  readonly connections?: number;
  readonly environment?: NodeJS.ProcessEnv;
  /** The certificate that the client shows, and those that it trusts. */
  readonly tls?: ClientTls | undefined;
}

export type ClientTls = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'minVersion' | 'checkServerIdentity' | 'allowPartialTrustChain'
>;

export interface HttpRequest extends Partial<Omit<StageLimits, 'connectMs'>> {
  /** GET by default. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** Ends the request and its answer at any time, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How many redirects of a GET or HEAD are followed; by default none is. */
  readonly maxRedirects?: number;
}

/** What a redirect to another origin may carry: any other field may be a credential. */
const NEUTRAL_FIELDS = new Set(['accept', 'accept-encoding', 'accept-language', 'if-range', 'range', 'user-agent']);

export class HttpClient {
  readonly #options: HttpClientOptions;
  #connections: HttpConnections | undefined;

  constructor(options: HttpClientOptions = {}) {
    this.#options = options;
  }

  /**
   * Resolves to the answer, whatever its status; its body must be read or discarded. Throws what the policy refuses with, HttpClientError, the
   * connection's own error, or the signal's reason.
   */
  async request(start: URL, request: HttpRequest = {}): Promise<HttpResponse> {
    const { method = 'GET', headers = {}, maxRedirects = 0 } = request;
    const mayFollow = method === 'GET' || method === 'HEAD';
    const redirects: Redirect[] = [];
    for (let url = start; ; ) {
      this.#options.policy?.check(url, redirects.at(-1)?.url);
      const sent = url.origin === start.origin ? headers : neutralFields(headers);
      const response = await this.#send(url, { ...request, headers: sent }, [...redirects]);
      const next = mayFollow && redirects.length < maxRedirects ? response.location : undefined;
      if (next === undefined) return response;
      response.discard();
      redirects.push({ url, headers: response.headers });
      url = next;
    }
  }

  /** Ends what is open. The client may be used again. */
  async close(): Promise<void> {
    await this.#connections?.close();
  }

  async #send(url: URL, request: HttpRequest, redirects: readonly Redirect[]): Promise<HttpResponse> {
    // Loaded with the first request: the library takes a while, and many programs send none.
    if (this.#connections === undefined) {
      const library = await import('./http-connections.ts');
      this.#connections ??= new library.HttpConnections(this.#options);
    }
    return this.#connections.send(url, request, redirects);
  }
}

function neutralFields(headers: NonNullable<HttpRequest['headers']>): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => NEUTRAL_FIELDS.has(name.toLowerCase())));
}
