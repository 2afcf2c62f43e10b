/** One request to another server, whose answer a client of ours gets. */
import { HttpClient } from '../../network/http-client.ts';
import type { HttpResponse } from '../../network/http-response.ts';
import { HttpError } from '../errors.ts';
import { endToEndOf } from './hop-by-hop.ts';
import type { ByteSource, ForwardReply } from './reply.ts';

const HEADER_TIMEOUT_MS = 10 * 60_000;

/** Once the answer has begun, its reader alone ends it. */
const client = new HttpClient({ firstByteMs: 0, idleMs: 0 });

/**
 * Resolves to the answer's head; its body must be read or discarded. Rejects with HttpError 502 `upstream_unreachable`, 504
 * `upstream_timeout`, or with the error of the body that was to be sent. The signal ends the request at any time.
 */
export async function requestUpstream(reply: ForwardReply, signal: AbortSignal): Promise<HttpResponse> {
  const url = new URL(reply.url);
  const late = new AbortController();
  const timeout = setTimeout(() => late.abort(timedOut(url)), reply.headerTimeoutMs ?? HEADER_TIMEOUT_MS);
  let ofBody: unknown;
  const body = watched(reply.body, (error) => {
    ofBody = error;
  });
  try {
    const limits = AbortSignal.any([signal, late.signal]);
    return await client.request(url, { method: reply.method, headers: endToEndOf(reply.headers), body, signal: limits });
  } catch (cause) {
    if (ofBody !== undefined) throw ofBody;
    throw cause instanceof HttpError ? cause : unreachable(url, cause as NodeJS.ErrnoException);
  } finally {
    clearTimeout(timeout);
  }
}

function watched(
  body: ForwardReply['body'],
  onError: (error: unknown) => void,
): Uint8Array | AsyncIterable<Uint8Array> | undefined {
  return body === undefined || body instanceof Uint8Array ? body : reading(body, onError);
}

async function* reading(body: ByteSource, onError: (error: unknown) => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    onError(error);
    throw error;
  }
}

function unreachable(url: URL, cause: NodeJS.ErrnoException): HttpError {
  const reason = cause.code ?? 'it closed the connection';
  return new HttpError(502, 'upstream_unreachable', `The server ${url.host} did not answer (${reason}); retry shortly.`, {
    cause,
  });
}

function timedOut(url: URL): HttpError {
  return new HttpError(504, 'upstream_timeout', `The server ${url.host} sent no answer in time; retry later.`);
}
