/** Routes are data: validation, types, OpenAPI and the docs page all come from one array of these. */
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorBody } from './error-body.ts';
import type { ErrorSpec } from './errors.ts';
import type { ListenerName } from './listen/listener-name.ts';
import type { PolicyName } from './policy.ts';
import type { Principal } from './principal.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RequestContext<P = unknown, Q = unknown, B = unknown> {
  params: P;
  query: Q;
  body: B;
  caller: Principal;
  requestId: string;
  path: string;
  /** Lowercase names. */
  headers: ReadonlyMap<string, string>;
  listener: ListenerName;
  remoteAddress: string;
  /** Aborts when the client goes away or the server drains past its limit. */
  signal: AbortSignal;
}

export type Reply = BytesReply | StreamReply;

export interface BytesReply {
  kind: 'bytes';
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** Opens an event stream: status 200 and headers go out at once, then start() writes as it likes. */
export interface StreamReply {
  kind: 'stream';
  headers: Record<string, string>;
  start(stream: EventStream): void;
}

export interface EventStream {
  /** Queues bytes (whole SSE frames). False: the client reads slowly; wait for onDrain. The bytes are copied. */
  write(frames: Uint8Array | string): boolean;
  /** Called each time the queue has gone out after write() said false. One callback: the last one given. */
  onDrain(callback: () => void): void;
  /** Called once when the client goes away before end(). */
  onClose(callback: () => void): void;
  end(): void;
}

export interface RouteSpec<P extends TObject, Q extends TObject, B extends TSchema> {
  method: Method;
  /** Braced parameters: /api/v1/inference/models/{id}. A parameter may hold percent-encoded slashes. */
  path: string;
  /** Name of the policy that says who may call. */
  auth: PolicyName;
  /** The scope that a credential needs beside the role, for example `models:write`. */
  scope?: string;
  /** Bytes; 0 for a route without a body. */
  maxBody: number;
  tag: string;
  summary: string;
  description?: string;
  params?: P;
  query?: Q;
  body?: B;
  /** Accepts a missing body as undefined. */
  bodyOptional?: boolean;
  /**
   * For liveness probes: answered on a fast path, while draining too, and without a log line. `handle` must return a
   * BytesReply at once and must not read its context. Needs GET, auth `open`, no parameters and maxBody 0.
   */
  probe?: boolean;
  responses: Record<number, TSchema>;
  /** Schema of one event's data, for routes that can stream. */
  stream?: TSchema;
  errors?: readonly ErrorSpec[];
  /** Flat unless the route imitates a foreign API. */
  errorBody?: ErrorBody;
  handle(context: RequestContext<Static<P>, Static<Q>, Static<B>>): Reply | Promise<Reply>;
}

/** A route of any types, as the router holds it. */
// biome-ignore lint/suspicious/noExplicitAny: the types were checked where the route was declared
export type Route = RouteSpec<any, any, any>;

export function route<P extends TObject, Q extends TObject, B extends TSchema>(spec: RouteSpec<P, Q, B>): Route {
  return spec;
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): BytesReply {
  return { kind: 'bytes', status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
