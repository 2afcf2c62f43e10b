/** One GET of one file: follows redirects under the address policy and hands the body over unread. */
import { PassThrough } from 'node:stream';
import type { HttpClient } from '../../../../platform/network/http-client.ts';
import type { HttpResponse, ResponseHeaders } from '../../../../platform/network/http-response.ts';
import { LibraryError } from '../files/library-error.ts';

const maxRedirects = 10;

interface RemoteRequest {
  client: Pick<HttpClient, 'request'>;
  headers: Record<string, string>;
  signal?: AbortSignal;
}

export interface RemoteFile {
  status: number;
  header(name: string): string | undefined;
  body: RemoteBody;
  /** The facts that the hub itself gave before it redirected to its storage. */
  hub: { sha256?: string; sizeBytes?: number; revision?: string };
}

/**
 * The bytes of an answer. A stream throws away what a broken connection delivered but nobody read yet; here those bytes come
 * first, and what broke it is said afterwards.
 */
class RemoteBody {
  readonly #answer: HttpResponse;
  readonly #buffer = new PassThrough({ highWaterMark: 1 << 20 });
  #failure: unknown;

  constructor(answer: HttpResponse) {
    this.#answer = answer;
    answer.body.once('error', (error) => {
      this.#failure = answer.failureOf(error);
      this.#buffer.end();
    });
    answer.body.pipe(this.#buffer);
  }

  /** Throws what broke the connection, after the last byte that arrived. */
  async *chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of this.#buffer) yield chunk as Buffer;
    if (this.#failure !== undefined) throw this.#failure;
  }

  close(): void {
    this.#answer.discard();
    this.#buffer.destroy();
  }
}

/** Throws LibraryError for refused addresses, and the client's errors when the connection fails. */
export async function openRemoteFile(start: URL, { client, ...request }: RemoteRequest): Promise<RemoteFile> {
  const answer = await client.request(start, { ...request, maxRedirects });
  const said = [...answer.redirects, answer].filter(({ url }) => url.origin === start.origin);
  const hub = Object.assign({}, ...said.map(({ headers }) => readHubHeaders(headers)));
  if (answer.isRedirect) throw lostAt(answer, start);
  return { status: answer.status, header: (name) => answer.header(name), body: new RemoteBody(answer), hub };
}

function lostAt(answer: HttpResponse, start: URL): LibraryError {
  answer.discard();
  const sentence =
    answer.location === undefined
      ? `${answer.url.origin} redirects to nowhere`
      : `${start.origin} redirects more than ${maxRedirects} times`;
  return new LibraryError('refused_by_server', sentence, 'check the address in a browser');
}

/** The hub names the Git LFS object: its sha256, its size and the commit (huggingface_hub, file_download.py). */
function readHubHeaders(headers: ResponseHeaders): RemoteFile['hub'] {
  const sha256 = /^"?([0-9a-f]{64})"?$/.exec(text(headers['x-linked-etag']))?.[1];
  const size = /^\d{1,15}$/.exec(text(headers['x-linked-size']))?.[0];
  const revision = /^[0-9a-f]{40}$/.exec(text(headers['x-repo-commit']))?.[0];
  return { ...(sha256 && { sha256 }), ...(size && { sizeBytes: Number(size) }), ...(revision && { revision }) };
}

const text = (header: string | string[] | undefined) => (typeof header === 'string' ? header : '');
