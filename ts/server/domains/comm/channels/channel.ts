/** How messages of one kind of account go out. A channel sends once, and says what came of it. */
import type { TObject } from 'typebox';
import type { AddressPolicy } from '../../../platform/network/address-policy.ts';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import { HttpClientError } from '../../../platform/network/http-client-error.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';

export interface Attachment {
  readonly name: string;
  readonly content: Buffer;
}

interface Message {
  readonly id: string;
  readonly to: string;
  readonly subject: string | undefined;
  readonly text: string;
  /** None on a channel that takes no files. */
  readonly attachments: readonly Attachment[];
}

/** `retry`: the provider refused it for now, or no byte that counts left. `unknown`: no answer came. */
export type Outcome =
  | { readonly kind: 'sent'; readonly reference?: string | undefined }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number | undefined }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

interface ChannelParts {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly key: string;
  readonly http: HttpClient;
  /** It judges addresses of connections that are none of HTTP. */
  readonly policy: AddressPolicy;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export interface Channel {
  readonly settings: TObject;
  readonly keyMeaning: string;
  readonly needsKey: boolean;
  /** The provider takes a message of one id once, however often it comes. */
  readonly isIdempotent: boolean;
  readonly takesFiles: boolean;
  /** It makes calls, and sends no messages. */
  readonly makesCalls: boolean;
  /** Says what is wrong with a recipient; undefined: nothing is. */
  recipientFault(settings: Readonly<Record<string, unknown>>, to: string): string | undefined;
  /** The address that is reached, to be judged before it is; undefined: the channel has no URL. */
  address(settings: Readonly<Record<string, unknown>>, key: string): URL | undefined;
  /** Never throws for what the network or the provider does. */
  send(parts: ChannelParts, message: Message): Promise<Outcome>;
}

const MAX_ANSWER_BYTES = 64 * 1024;
const MOST_WAIT_MS = 24 * 3_600_000;
/** Failures before the first byte of a request. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'unsafe_address',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_HAS_EXPIRED',
]);

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: unknown;
  readonly retryAfterMs: number | undefined;
}

interface PostedRequest {
  readonly method?: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One request, whose answer the channel judges. An outcome in its place: there is no answer. */
export async function postOnce({ http, signal }: ChannelParts, request: PostedRequest): Promise<Answer | Outcome> {
  const { method = 'POST', url, headers = {}, body } = request;
  let answer: HttpResponse;
  try {
    answer = await http.request(url, { method, body, signal, headers: { 'content-type': 'application/json', ...headers } });
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const isUnsent = UNSENT.has(code) || (error instanceof HttpClientError && error.failure === 'connect_timeout');
    return {
      kind: isUnsent ? 'retry' : 'unknown',
      reason: isUnsent ? `it cannot be reached: ${code || 'no connection'}` : 'no answer came',
    };
  }
  const { status } = answer;
  const retryAfterMs = retryAfterOf(answer.header('retry-after'));
  // The status is the answer, whether or not its body comes whole.
  const text = await answer.bytes(MAX_ANSWER_BYTES).then(
    (bytes) => bytes.toString(),
    () => '',
  );
  return { status, text, json: parsed(text), retryAfterMs };
}

/** The usual meaning of a status. A server that fails may have taken the message before it did. */
export function outcomeOf(answer: Answer | Outcome, reference?: string, retryAfterMs?: number): Outcome {
  if ('kind' in answer) return answer;
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'sent', reference };
  const reason = `the provider answered ${status}`;
  const afterMs = retryAfterMs ?? answer.retryAfterMs;
  if (status === 429 || (status === 503 && afterMs !== undefined)) return { kind: 'retry', reason, afterMs };
  return { kind: status >= 400 && status < 500 && status !== 408 ? 'refused' : 'unknown', reason };
}

function retryAfterOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MOST_WAIT_MS);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
