/**
 * Requests that one node of the cluster takes and another one answers: the port by which the router asks where, and the note by which the other
 * node's router knows of whom such a request comes. The credential itself travels with the request, and the node that answers judges it.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AuthenticationState } from './authenticator.ts';
import type { BodyStream } from './body/body-stream.ts';
import { HttpError } from './errors.ts';
import type { ListenerName } from './listen/listener-name.ts';
import type { Reply } from './reply/reply.ts';
import type { Route } from './route.ts';

/** The request as its client made it, for the node that answers. */
export interface ForwardedFacts {
  readonly address: string;
  readonly listener: ListenerName;
  readonly state: AuthenticationState;
  /** The host by which the client called. */
  readonly host: string;
  readonly isEncrypted: boolean;
  readonly requestId: string;
  /** How often it was forwarded. */
  readonly hops: number;
  /** Another node puts an answer together, and asks this one for its own part. */
  readonly isPart?: boolean | undefined;
}

export interface ForwardedRequest {
  readonly method: string;
  /** The query is in it. */
  readonly path: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: BodyStream | Uint8Array | undefined;
  readonly facts: ForwardedFacts;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /** The event by which an event stream ends that the error has cut, in the shape of its API. */
  lastFrame(error: HttpError): string;
}

/** A request as far as it is known before its body is. */
export interface AskedRequest {
  /** Undefined: there is no such route. */
  readonly route: Route | undefined;
  readonly method: string;
  readonly path: string;
  /** See ForwardedFacts. */
  readonly isPart: boolean;
}

export interface Forwarding {
  /** Undefined: this node answers it. Else whoever sends it on; the function throws HttpError where nobody takes it. */
  find(asked: AskedRequest): ((request: ForwardedRequest) => Promise<Reply>) | undefined;
}

/** The field of the note. From anywhere but this process it says nothing. */
export const IDENTITY_HEADER = 'x-svc-forwarded-identity';
const MOST_HOPS = 2;
const LASTS_MS = 60_000;
const key = randomBytes(32);

/** Writes the note of a request that came over the link. This process alone believes it, for a minute. */
export function writeForwardedFacts(facts: ForwardedFacts, now = Date.now()): string {
  const text = Buffer.from(JSON.stringify({ ...facts, until: now + LASTS_MS })).toString('base64url');
  return `${text}.${signatureOf(text)}`;
}

/** Undefined for a note of anybody else, or an old one. */
export function readForwardedFacts(note: string, now = Date.now()): ForwardedFacts | undefined {
  const [text = '', signature = ''] = note.split('.');
  const [shown, own] = [Buffer.from(signature), Buffer.from(signatureOf(text))];
  if (shown.length !== own.length || !timingSafeEqual(shown, own)) return undefined;
  const { until, ...facts } = JSON.parse(Buffer.from(text, 'base64url').toString()) as ForwardedFacts & { until: number };
  return until < now ? undefined : facts;
}

/** Throws 508 `forward_loop` where a request was sent on often enough. */
export function nextHop(facts: ForwardedFacts | undefined): number {
  const hops = (facts?.hops ?? 0) + 1;
  if (hops <= MOST_HOPS) return hops;
  const detail = 'Nodes of the cluster send this request on to each other: their lists of nodes differ for a moment. Retry.';
  throw new HttpError(508, 'forward_loop', detail, { headers: { 'retry-after': '1' } });
}

function signatureOf(text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}
