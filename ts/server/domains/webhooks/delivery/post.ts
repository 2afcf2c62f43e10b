/** One POST to a receiver. Redirects are not followed, and of the answer only the status is kept. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type AddressPolicy, UnsafeAddress } from '../../../platform/network/address-policy.ts';

export interface PostRequest {
  url: URL;
  headers: Record<string, string>;
  body: string;
  policy: AddressPolicy;
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
export async function post(request: PostRequest): Promise<PostResult> {
  const limit = AbortSignal.timeout(request.timeoutMs);
  try {
    request.policy.check(request.url);
    const answer = await send(request, AbortSignal.any([limit, request.signal]));
    await readPast(answer);
    return resultOf(answer);
  } catch (error) {
    const sentence = limit.aborted ? `no answer within ${request.timeoutMs / 1000} s` : sentenceOf(error);
    return { status: undefined, error: sentence.slice(0, ERROR_LENGTH), retryAfterMs: undefined };
  }
}

function send({ url, headers, body, policy }: PostRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    // No connection is shared: one that was judged for another name must not be found by this one.
    const options = { method: 'POST', headers: { ...headers, ...length }, lookup: policy.lookupFor(url), agent: false, signal };
    open(url, options, resolve).on('error', reject).end(body);
  });
}

/** Reads so that the receiver sees its answer taken, up to the limit. */
async function readPast(answer: IncomingMessage): Promise<void> {
  let sizeBytes = 0;
  for await (const chunk of answer) {
    sizeBytes += (chunk as Buffer).length;
    if (sizeBytes > MAX_ANSWER_BYTES) break;
  }
  answer.destroy();
}

function resultOf({ statusCode: status = 0, headers }: IncomingMessage): PostResult {
  const seconds = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0];
  const retryAfterMs = seconds === undefined ? undefined : Number(seconds) * 1000;
  if (status >= 200 && status < 300) return { status, error: undefined, retryAfterMs };
  const isRedirect = status >= 300 && status < 400;
  return { status, error: isRedirect ? `answers ${status}, and redirects are not followed` : `answers ${status}`, retryAfterMs };
}

/** What a connection's failure says of names and addresses inside the network stays out. */
function sentenceOf(error: unknown): string {
  if (error instanceof UnsafeAddress) return 'the address lies inside a network that webhooks may not reach';
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
