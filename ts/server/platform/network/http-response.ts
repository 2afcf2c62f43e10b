/** An answer of another server, whose body comes as fast as it is read. */
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { HttpClientError, type StageLimits, translateFailure } from './http-client-error.ts';

/** Names are lowercase; a field that comes several times has a list. */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>;

/** An answer that sent the client on. */
export interface Redirect {
  readonly url: URL;
  readonly headers: ResponseHeaders;
}

interface ResponseParts {
  readonly url: URL;
  readonly answer: Dispatcher.ResponseData;
  readonly redirects: readonly Redirect[];
  readonly limits: StageLimits;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export class HttpResponse {
  /** Where the answer comes from, after all redirects. */
  readonly url: URL;
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Those that led here. */
  readonly redirects: readonly Redirect[];
  readonly body: Readable;

  readonly #limits: StageLimits;

  constructor({ url, answer, redirects, limits }: ResponseParts) {
    this.url = url;
    this.status = answer.statusCode;
    this.headers = answer.headers as ResponseHeaders;
    this.redirects = redirects;
    // Destroying it unread is an error to the library, and an error without a listener would end the process. Readers get it all the same.
    this.body = answer.body.on('error', () => undefined);
    this.#limits = limits;
  }

  get isOk(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get isRedirect(): boolean {
    return REDIRECTS.has(this.status);
  }

  /** Where it sends the client on to; undefined for an answer that does not, or names no address. */
  get location(): URL | undefined {
    const location = this.header('location');
    return this.isRedirect && location !== undefined && URL.canParse(location, this.url.href)
      ? new URL(location, this.url)
      : undefined;
  }

  /** The first one of that name. */
  header(name: string): string | undefined {
    const value = this.headers[name];
    return typeof value === 'object' ? value[0] : value;
  }

  /** Throws HttpClientError or the connection's own error. Whoever stops reading ends the connection. */
  async *chunks(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.body) yield chunk as Buffer;
    } catch (error) {
      throw this.failureOf(error);
    }
  }

  /** The whole body. Throws HttpClientError `body_too_large` for more. */
  async bytes(maxBytes: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of this.chunks()) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) throw new HttpClientError('body_too_large', `the answer has more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, sizeBytes);
  }

  /** What an error of the body means. */
  failureOf(error: unknown): unknown {
    return translateFailure(error, this.#limits);
  }

  /** Ends the answer unread. */
  discard(): void {
    this.body.destroy();
  }
}
