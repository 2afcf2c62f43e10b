/** What keeps a request of the HTTP client from its answer, beside what Node says of a connection and what the address policy refuses. */

export type HttpClientFailure =
  | 'connect_timeout'
  | 'first_byte_timeout'
  | 'idle_timeout'
  | 'connection_closed'
  | 'body_too_large'
  | 'invalid_answer'
  | 'proxy_failed';

export class HttpClientError extends Error {
  override readonly name = 'HttpClientError';
  readonly failure: HttpClientFailure;
  /** As Node names it. */
  readonly code: string | undefined;

  constructor(failure: HttpClientFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
    this.code = failure === 'connection_closed' ? 'ECONNRESET' : undefined;
  }
}

/** 0 is no limit. */
export interface StageLimits {
  /** Resolving, connecting and the TLS handshake together. */
  readonly connectMs: number;
  /** From the last piece of the request that the server took to the head of its answer. */
  readonly firstByteMs: number;
  /** Between two pieces of the answer's body, while its reader waits for them. */
  readonly idleMs: number;
}

/** From the library's errors to sentences; other errors stay as they are. */
export function translateFailure(error: unknown, { connectMs, firstByteMs, idleMs }: StageLimits): unknown {
  const late = (failure: HttpClientFailure, what: string, ms: number) =>
    new HttpClientError(failure, `no ${what} for ${ms / 1000} s`, error);
  const code = String((error as { code?: unknown } | undefined)?.code);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return late('connect_timeout', 'connection', connectMs);
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return late('first_byte_timeout', 'answer', firstByteMs);
  if (code === 'UND_ERR_BODY_TIMEOUT') return late('idle_timeout', 'data', idleMs);
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code.startsWith('HPE_'))
    return new HttpClientError('invalid_answer', 'the answer is not HTTP', error);
  if (code === 'UND_ERR_SOCKET' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return new HttpClientError('connection_closed', 'the server closed the connection', error);
  return error;
}
