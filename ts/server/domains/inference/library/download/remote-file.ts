/** One GET of one file: follows redirects under the address policy and hands the body over unread. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { PassThrough } from 'node:stream';
import type { AddressPolicy } from '../../../../platform/network/address-policy.ts';
import { LibraryError } from '../library-error.ts';

const maxRedirects = 10;

export interface RemoteRequest {
  policy: AddressPolicy;
  headers: Record<string, string>;
  /** Sent to the first address's own origin and nowhere else. */
  token?: string;
  /** Longest silence of the server, milliseconds. */
  idleMs: number;
  signal?: AbortSignal;
}

export interface RemoteFile {
  status: number;
  headers: IncomingMessage['headers'];
  body: RemoteBody;
  /** What the hub itself said before it redirected to its storage. */
  hub: { sha256?: string; sizeBytes?: number; revision?: string };
}

/**
 * The bytes of an answer. Node throws away what a broken connection delivered but nobody read yet; here those bytes come
 * first, and what broke it is said afterwards.
 */
export class RemoteBody {
  readonly #source: IncomingMessage;
  readonly #buffer = new PassThrough({ highWaterMark: 1 << 20 });
  #failure: Error | undefined;

  constructor(source: IncomingMessage) {
    this.#source = source;
    source.once('error', (error) => {
      this.#failure = error;
      this.#buffer.end();
    });
    source.pipe(this.#buffer);
  }

  /** Throws what broke the connection, after the last byte that arrived. */
  async *chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of this.#buffer) yield chunk as Buffer;
    if (this.#failure) throw this.#failure;
  }

  close(): void {
    this.#source.destroy();
    this.#buffer.destroy();
  }
}

/** Throws LibraryError for refused addresses, and Node's own errors when the connection fails. */
export async function openRemoteFile(start: URL, request: RemoteRequest): Promise<RemoteFile> {
  let url = start;
  let from: URL | undefined;
  let hub: RemoteFile['hub'] = {};
  for (let hop = 0; hop <= maxRedirects; hop++) {
    request.policy.check(url, from);
    const answer = await get(url, start, request);
    const { statusCode: status = 0, headers } = answer;
    if (url.origin === start.origin) hub = { ...hub, ...readHubHeaders(headers) };
    if (![301, 302, 303, 307, 308].includes(status)) return { status, headers, body: new RemoteBody(answer), hub };
    // Nobody needs the body of a redirect, however long it is.
    answer.on('error', () => {}).destroy();
    from = url;
    url = getLocation(headers.location, url);
  }
  throw new LibraryError(
    'refused_by_server',
    `${start.origin} redirects more than ${maxRedirects} times`,
    'check the address in a browser',
  );
}

function get(url: URL, start: URL, { policy, headers, token, idleMs, signal }: RemoteRequest): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const own = token !== undefined && url.origin === start.origin ? { authorization: `Bearer ${token}` } : {};
  return new Promise((resolve, reject) => {
    const common = { headers: { ...headers, ...own }, lookup: policy.lookupFor(url), agent: false } as const;
    // Of the socket, so that it runs while the connection is made and while the body is read: silence counts, not the request's age.
    const request = send(url, { ...common, timeout: idleMs, ...(signal && { signal }) }, resolve);
    request.on('timeout', () => request.destroy(new Error(`no data for ${idleMs / 1000} s`)));
    request.on('error', reject);
    request.end();
  });
}

function getLocation(location: string | undefined, base: URL): URL {
  if (location !== undefined && URL.canParse(location, base.href)) return new URL(location, base);
  throw new LibraryError('refused_by_server', `${base.origin} redirects to nowhere`, 'check the address in a browser');
}

/** The hub names the Git LFS object: its sha256, its size and the commit (huggingface_hub, file_download.py). */
function readHubHeaders(headers: IncomingMessage['headers']): RemoteFile['hub'] {
  const sha256 = /^"?([0-9a-f]{64})"?$/.exec(text(headers['x-linked-etag']))?.[1];
  const size = /^\d{1,15}$/.exec(text(headers['x-linked-size']))?.[0];
  const revision = /^[0-9a-f]{40}$/.exec(text(headers['x-repo-commit']))?.[0];
  return { ...(sha256 && { sha256 }), ...(size && { sizeBytes: Number(size) }), ...(revision && { revision }) };
}

const text = (header: string | string[] | undefined) => (typeof header === 'string' ? header : '');
