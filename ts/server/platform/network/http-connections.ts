/** The connections of an HTTP client: a pool of them for each origin that it calls. */
import { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import type { HttpClientOptions, HttpRequest } from './http-client.ts';
import { type StageLimits, translateFailure } from './http-client-error.ts';
import { HttpResponse, type Redirect } from './http-response.ts';
import { basicAuthorization, type Way, wayTo } from './outgoing-way.ts';
import { findProxy } from './proxy-environment.ts';

const DEFAULT_LIMITS: StageLimits = { connectMs: 10_000, firstByteMs: 60_000, idleMs: 60_000 };
/** Shorter than servers keep idle connections (Node: 5 s), so that a request does not meet one that is being closed. */
const KEEP_ALIVE_MS = 4_000;
/** A larger body is handed over in pieces, so that the wait for the answer begins with the last piece and not with the first. */
const PIECE_BYTES = 64 * 1024;

export class HttpConnections {
  readonly #options: HttpClientOptions;
  readonly #pools = new Map<string, Pool>();

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /** One request without redirects. */
  async send(url: URL, request: HttpRequest, redirects: readonly Redirect[]): Promise<HttpResponse> {
    const { policy, environment = process.env } = this.#options;
    const limits = { ...DEFAULT_LIMITS, ...this.#options, ...request };
    const proxy = findProxy(url, environment);
    if (proxy !== undefined && policy !== undefined) await policy.judgeName(url);
    const way = wayTo(url, proxy, { connectMs: limits.connectMs, policy, tls: this.#options.tls });
    try {
      const answer = await this.#poolOf(way).request({
        path: way.path,
        method: (request.method ?? 'GET') as Dispatcher.HttpMethod,
        headers: { ...basicAuthorization('authorization', url), ...request.headers, ...way.fields, ...lengthOf(request.body) },
        body: bodyOf(request.body),
        signal: request.signal ?? null,
        headersTimeout: limits.firstByteMs,
        bodyTimeout: limits.idleMs,
      });
      return new HttpResponse({ url, answer, redirects, limits });
    } catch (error) {
      throw translateFailure(error, limits);
    }
  }

  /** A pool that has no connection left is forgotten: addresses come from tenants too, and there is no end of them. */
  #poolOf({ key, origin, connector }: Way): Pool {
    const found = this.#pools.get(key);
    if (found !== undefined) return found;
    const { keepAliveMs = KEEP_ALIVE_MS, connections = null } = this.#options;
    const pool = new Pool(origin, { connect: connector(), connections, keepAliveTimeout: keepAliveMs });
    const forgetUnused = (): void => {
      if (pool.stats.connected > 0 || pool.stats.size > 0 || this.#pools.get(key) !== pool) return;
      this.#pools.delete(key);
      void pool.close();
    };
    pool.on('disconnect', forgetUnused).on('connectionError', forgetUnused);
    this.#pools.set(key, pool);
    return pool;
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}

function lengthOf(body: HttpRequest['body']): Record<string, string> {
  if (typeof body === 'string') return { 'content-length': String(Buffer.byteLength(body)) };
  return body instanceof Uint8Array && body.length > 0 ? { 'content-length': String(body.length) } : {};
}

function bodyOf(body: HttpRequest['body']): string | Uint8Array | Readable | null {
  if (body === undefined) return null;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (!(bytes instanceof Uint8Array)) return Readable.from(bytes, { objectMode: false });
  return bytes.length > PIECE_BYTES ? Readable.from(piecesOf(bytes), { objectMode: false }) : bytes;
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
