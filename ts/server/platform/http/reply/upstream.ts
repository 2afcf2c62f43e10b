/** One request to another server. */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HttpError } from '../errors.ts';
import { endToEndOf } from './hop-by-hop.ts';
import type { ForwardReply } from './reply.ts';

const HEADER_TIMEOUT_MS = 10 * 60_000;
/** Shorter than servers keep idle connections (10 s here), so that a request does not meet one that is being closed. */
const IDLE_MS = 4_000;

const agents = {
  'http:': new HttpAgent({ keepAlive: true, timeout: IDLE_MS }),
  'https:': new HttpsAgent({ keepAlive: true, timeout: IDLE_MS }),
};

/**
 * Resolves to the answer's head; its body must be read or destroyed. Rejects with HttpError 502 `upstream_unreachable`, 504
 * `upstream_timeout`, or with the error of the body that was to be sent. The signal ends the request at any time.
 */
export function requestUpstream(reply: ForwardReply, signal: AbortSignal): Promise<IncomingMessage> {
  const url = new URL(reply.url);
  const headers = endToEndOf(reply.headers);
  if (reply.body instanceof Uint8Array) headers['content-length'] = String(reply.body.length);
  const isSecure = url.protocol === 'https:';
  const options = { method: reply.method, headers, signal, agent: isSecure ? agents['https:'] : agents['http:'] };
  const request = isSecure ? requestHttps(url, options) : requestHttp(url, options);
  const timeout = setTimeout(() => request.destroy(timedOut(url)), reply.headerTimeoutMs ?? HEADER_TIMEOUT_MS);
  return new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    // Stays for the life of the request: an error after the head reaches the reader of the body.
    request.on('error', (cause) => reject(cause instanceof HttpError ? cause : unreachable(url, cause)));
    sendBody(request, reply.body, reject);
  }).finally(() => clearTimeout(timeout));
}

function sendBody(request: ClientRequest, body: ForwardReply['body'], reject: (error: unknown) => void): void {
  if (body === undefined || body instanceof Uint8Array) {
    request.end(body);
    return;
  }
  let isAnswered = false;
  request.once('response', () => {
    isAnswered = true;
  });
  // The request reports its own errors; what is left is a source that failed. A server may answer before it has read everything.
  pipeline(Readable.from(body), request).catch((error: unknown) => {
    reject(error);
    if (!isAnswered) request.destroy();
  });
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
