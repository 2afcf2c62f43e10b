/** One POST to a receiver. Redirects are not followed, and of the answer only the status is kept. */
import { linkSignals } from '../../../platform/linked-signal.ts';
import { UnsafeAddress } from '../../../platform/network/address-policy.ts';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';

interface PostRequest {
  url: URL;
  headers: Record<string, string>;
  body: string;
  client: HttpClient;
  /** For everything: the connection, the answer's head and its body. */
  timeoutMs: number;
  signal: AbortSignal;
}

export interface PostResult {
  /** Undefined: no answer came. */
  status: number | undefined;
  /** In words for the list of deliveries; undefined for a 2xx. */
  error: string | undefined;
  /** From Retry-After in seconds. */
  retryAfterMs: number | undefined;
}

/** A receiver that says more is not listened to. */
const MAX_ANSWER_BYTES = 64 * 1024;
const ERROR_LENGTH = 200;

/** Never rejects. */
export async function post({ client, url, headers, body, timeoutMs, signal }: PostRequest): Promise<PostResult> {
  const limit = AbortSignal.timeout(timeoutMs);
  const either = linkSignals(limit, signal);
  try {
    const answer = await client.request(url, { method: 'POST', headers, body, signal: either.signal });
    await readPast(answer);
    return resultOf(answer);
  } catch (error) {
    const sentence = limit.aborted ? `no answer within ${timeoutMs / 1000} s` : sentenceOf(error);
    return { status: undefined, error: sentence.slice(0, ERROR_LENGTH), retryAfterMs: undefined };
  } finally {
    either.unlink();
  }
}

/** Reads so that the receiver sees its answer taken, up to the limit. */
async function readPast(answer: HttpResponse): Promise<void> {
  let sizeBytes = 0;
  for await (const chunk of answer.chunks()) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_ANSWER_BYTES) break;
  }
}

function resultOf(answer: HttpResponse): PostResult {
  const { status } = answer;
  const seconds = /^\d{1,6}$/.exec(answer.header('retry-after') ?? '')?.[0];
  const retryAfterMs = seconds === undefined ? undefined : Number(seconds) * 1000;
  if (answer.isOk) return { status, error: undefined, retryAfterMs };
  const isRedirect = status >= 300 && status < 400;
  return { status, error: isRedirect ? `answers ${status}, and redirects are not followed` : `answers ${status}`, retryAfterMs };
}

/** What a connection's failure says of names and addresses inside the network stays out. */
function sentenceOf(error: unknown): string {
  if (error instanceof UnsafeAddress) return 'the address lies inside a network that webhooks may not reach';
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
