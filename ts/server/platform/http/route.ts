/** Routes are data: validation, types, OpenAPI and the docs page all come from one array of these. */
import type { Static, TObject, TSchema } from 'typebox';
import type { TaskSpec } from '../pool/task-spec.ts';
import type { BodyTexts } from './body/body-reader.ts';
import type { PartLimits } from './body/multipart.ts';
import type { ReadBodyTask } from './body/read-body-task.ts';
import type { ErrorBody } from './error-body.ts';
import type { ErrorSpec } from './errors.ts';
import type { ListenerName } from './listen/listener-name.ts';
import type { PolicyName } from './policy.ts';
import type { Principal } from './principal.ts';
import type { Reply, ReplyHeaders } from './reply/reply.ts';

export { type BytesReply, type EventStream, type EventsReply, json, type Reply } from './reply/reply.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type BodyKind = 'json' | 'bytes' | 'multipart' | 'form';

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
  /** The client's address; see `edge.trusted_proxies` for what proxies may say of it. */
  remoteAddress: string;
  /** Adds a field to the answer, whatever it will be; until its head is sent. */
  addHeader(name: string, value: string): void;
  /**
   * The client's browser speaks TLS with this socket, or with a proxy that says so. A client that lies in X-Forwarded-Proto only keeps its
   * own browser from sending what was meant for TLS.
   */
  isEncrypted: boolean;
  /** Aborts when the client goes away or the server drains past its limit. */
  signal: AbortSignal;
  /**
   * Judges the caller's credential as that of a new request for the same route, also when the client is gone, for work that goes on then.
   * Throws HttpError: 503 when it cannot be judged now.
   */
  recheck(): Promise<void>;
}

export interface RouteSpec<P extends TObject, Q extends TObject, B extends TSchema, R = Static<B>> {
  method: Method;
  /** Braced parameters: /api/v1/inference/models/{id}. A parameter may hold percent-encoded slashes. */
  path: string;
  /** Name of the policy that says who may call. */
  auth: PolicyName;
  /** The scope that a credential needs beside the role, for example `models:write`. */
  scope?: string;
  /** WWW-Authenticate of a refusal for want of a credential; `Bearer` by default. */
  challenge?: string;
  /** Bytes; 0 for a route without a body. */
  maxBody: number;
  tag: string;
  summary: string;
  description?: string;
  params?: P;
  query?: Q;
  /** Those that clients send and the handler may read, for the reference; they are not checked. */
  requestHeaders?: TObject;
  /** Checked for JSON bodies; for the other kinds it is what the reference shows, see body/body-schema.ts. */
  body?: B;
  /**
   * `json` (the default): the parsed and checked value; without a schema the bytes. `bytes`: a BodyStream. `multipart`: a MultipartBody.
   * `form`: the same, or the parts of a form that came as JSON. All but the first begin while the body arrives, and hold little of it in memory.
   */
  bodyKind?: BodyKind;
  /** The translation of a JSON body: what the handler gets in place of the checked value, and where large bodies are read. */
  reading?: BodyReading<Static<B>, R>;
  /** Says what the strings of a JSON body may hold; `plain` by default, see body/body-reader.ts. */
  bodyTexts?: BodyTexts;
  /** The limits of the parts of a `multipart` body. */
  partLimits?: Partial<PartLimits>;
  /** Accepts a missing body as undefined. */
  bodyOptional?: boolean;
  /**
   * Marks a liveness probe: it is answered on a fast path, while draining too, and without a log line. `handle` must return a BytesReply at once and
   * must not read its context. It needs GET, auth `open`, no parameters and maxBody 0.
   */
  probe?: boolean;
  /**
   * Sent with the answer to OPTIONS of the path, for protocols whose clients ask so what a server can do. They go to strangers as well, and tell
   * them that the path exists.
   */
  optionsHeaders?: ReplyHeaders;
  responses: Record<number, TSchema>;
  /** Schema of one event's data, for routes that can stream. */
  stream?: TSchema;
  errors?: readonly ErrorSpec[];
  /** Flat unless the route imitates a foreign API. */
  errorBody?: ErrorBody;
  /** The module that answers, and whether it can on this node; told by the list of modules. */
  answeredBy?: { readonly module: string; readonly isRunning: boolean };
  handle(context: RequestContext<Static<P>, Static<Q>, R>): Reply | Promise<Reply>;
}

/** A route of any types, as the router holds it. */
// biome-ignore lint/suspicious/noExplicitAny: the types were checked where the route was declared
export type Route = RouteSpec<any, any, any, any>;

/** The handler gets the checked body. */
export function route<P extends TObject, Q extends TObject, B extends TSchema>(
  spec: Omit<RouteSpec<P, Q, B>, 'reading'> & { reading?: never },
): Route;
/** The handler gets what the reading makes of it. */
export function route<P extends TObject, Q extends TObject, B extends TSchema, R>(
  spec: Omit<RouteSpec<P, Q, B, R>, 'reading'> & { reading: BodyReading<Static<B>, R> },
): Route;
export function route(spec: Route): Route {
  return spec;
}

/** A route's translation of its checked body, on the event loop or in a worker thread with the same result. */
export interface BodyReading<B, R> {
  /** Pure: it depends on nothing but its arguments, and throws HttpError or DomainError. `sizeBytes` is that of the whole body. */
  read(body: B, sizeBytes: number): R;
  thread: ThreadReading;
}

/** Names the task of worker threads that reads large bodies. */
export interface ThreadReading {
  task: TaskSpec<ReadBodyTask>;
  /** The name of the task's reader. */
  reader: string;
}
