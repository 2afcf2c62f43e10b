/** Routes that share a tag, a policy, a scope and a table of refusals: each declares only what differs. */
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import type { ErrorSpec, ErrorTable } from '../errors/define-errors.ts';
import type { ErrorBody } from './error-body.ts';
import type { PolicyName } from './policy.ts';
import type { ReplyHeaders } from './reply/reply.ts';
import { type BodyReading, json, type Method, type Reply, type RequestContext, type Route, type RouteSpec } from './route.ts';

export interface RouteGroup<Code extends string> {
  tag: string;
  auth?: PolicyName;
  scope?: string;
  /** The table whose codes the routes name. */
  errors?: ErrorTable<Code>;
  /** Bytes, of the routes that take a body. */
  maxBody?: number;
  errorBody?: ErrorBody;
}

/** Enough for a body of a few members. */
const SMALL_BODY_BYTES = 4096;

type Common = 'method' | 'path' | 'tag' | 'auth' | 'maxBody' | 'responses' | 'errors' | 'handle' | 'reading';

/** The members of a route's declaration beside its path. */
type Declared<Code extends string, P extends TObject, Q extends TObject, B extends TSchema> = Omit<RouteSpec<P, Q, B>, Common> & {
  auth?: PolicyName;
  /** Bytes; by default that of the group for a route with a body, and none for others. */
  maxBody?: number;
  /** Codes of the group's table, and declarations of other modules. */
  errors?: readonly (Code | ErrorSpec)[];
};

/** A value that is only written as JSON: nothing of it is changed, and members that are undefined are left out. */
type Shown<T> = T extends object ? { readonly [K in keyof T]: Shown<T[K]> | (object extends Pick<T, K> ? undefined : never) } : T;

/** A handler gives the value of the one answer, or nothing for 204, or a whole reply where the route has several answers. */
type Answered<C, A extends TSchema> =
  | {
      answer: A;
      /** 200 by default. */
      status?: number;
      headers?: ReplyHeaders;
      responses?: never;
      handle(context: C): Shown<Static<A>> | Promise<Shown<Static<A>>>;
    }
  | { answer?: never; responses: Record<number, TSchema>; handle(context: C): Reply | Promise<Reply> }
  | { answer?: never; responses?: never; handle(context: C): void | Promise<void> };

export interface Declare<Code extends string> {
  /** The handler gets the checked body. */
  <P extends TObject, Q extends TObject, B extends TSchema, A extends TSchema>(
    path: string,
    spec: Declared<Code, P, Q, B> & { reading?: never } & Answered<RequestContext<Static<P>, Static<Q>, Static<B>>, A>,
  ): Route;
  /** The handler gets what the reading makes of the body. */
  <P extends TObject, Q extends TObject, B extends TSchema, A extends TSchema, R>(
    path: string,
    spec: Declared<Code, P, Q, B> & { reading: BodyReading<Static<B>, R> } & Answered<RequestContext<Static<P>, Static<Q>, R>, A>,
  ): Route;
}

export interface Routes<Code extends string> {
  get: Declare<Code>;
  post: Declare<Code>;
  put: Declare<Code>;
  patch: Declare<Code>;
  del: Declare<Code>;
}

/** `const { get, post } = routes({ tag, auth, scope, errors })` declares the routes of a file. */
export function routes<Code extends string = never>(group: RouteGroup<Code>): Routes<Code> {
  const declare = (method: Method) => (path: string, spec: object) => routeOf(group, method, path, spec as AnySpec);
  return {
    get: declare('GET') as Declare<Code>,
    post: declare('POST') as Declare<Code>,
    put: declare('PUT') as Declare<Code>,
    patch: declare('PATCH') as Declare<Code>,
    del: declare('DELETE') as Declare<Code>,
  };
}

type AnySpec = Partial<Omit<Route, 'errors'>> & {
  errors?: readonly (string | ErrorSpec)[];
  answer?: TSchema;
  status?: number;
  headers?: ReplyHeaders;
  handle(context: RequestContext): unknown;
};

function routeOf(
  { errors: table, maxBody: maxBodyOfGroup = SMALL_BODY_BYTES, ...group }: RouteGroup<string>,
  method: Method,
  path: string,
  { answer, status, headers, errors, handle, ...spec }: AnySpec,
): Route {
  const takesBody = spec.body !== undefined || spec.bodyKind !== undefined;
  const success = answer === undefined ? (spec.responses ?? { 204: Type.Null() }) : { [status ?? 200]: answer };
  return {
    ...group,
    maxBody: takesBody ? maxBodyOfGroup : 0,
    ...spec,
    method,
    path,
    responses: success,
    handle: replying(handle, spec.responses === undefined, { status: answer === undefined ? 204 : (status ?? 200), headers }),
    ...(errors !== undefined && {
      errors: distinct(errors.flatMap((one) => (typeof one === 'string' ? (table?.specs(one) ?? []) : [one]))),
    }),
  } as Route;
}

/** Each code once: what several parts of a route refuse with it is documented as the first of them says. */
function distinct(specs: readonly ErrorSpec[]): ErrorSpec[] {
  return specs.filter(({ code }, i) => specs.findIndex((spec) => spec.code === code) === i);
}

/** The handler's value as a reply. */
function replying(
  handle: AnySpec['handle'],
  isValue: boolean,
  { status, headers = {} }: { status: number; headers: ReplyHeaders | undefined },
): Route['handle'] {
  if (!isValue) return handle as Route['handle'];
  const reply = (value: unknown): Reply =>
    status === 204 ? { kind: 'bytes', status, headers, body: '' } : json(status, value, headers);
  return (context) => {
    const value = handle(context);
    return value instanceof Promise ? value.then(reply) : reply(value);
  };
}
