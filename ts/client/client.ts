/** Calls routes by their name; the types come from openapi.json, so that no caller can disagree with a route. */
import { Refusal } from './refusal.ts';
import type { Routes } from './routes.ts';

export type RouteName = keyof Routes;
export type Answer<R extends RouteName> = Routes[R]['answer'];

/** An optional member may be given as undefined, which is not sent; a file may be given as its bytes. */
type Loose<T> = T extends Blob
  ? Blob | Uint8Array<ArrayBuffer>
  : T extends object
    ? { [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] }
    : T;
export type Body<R extends RouteName> = Routes[R] extends { body?: infer B } ? Loose<B> : never;
type Part<R extends RouteName, K extends string> = K extends keyof Routes[R]
  ? { [P in keyof Pick<Routes[R], K>]: Loose<Routes[R][P]> }
  : unknown;

interface RequestOptions {
  signal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
  /** The browser sends it even when the page goes away. */
  keepalive?: boolean;
}

export type CallOptions<R extends RouteName> = Part<R, 'params'> & Part<R, 'query'> & Part<R, 'body'> & RequestOptions;

// biome-ignore lint/complexity/noBannedTypes: whether every member is optional is asked
type Given<R extends RouteName> = {} extends CallOptions<R> ? [options?: CallOptions<R>] : [options: CallOptions<R>];

interface LooseOptions extends RequestOptions {
  params?: object;
  query?: object;
  body?: unknown;
}

/** How a program reaches the server. */
export interface Connection {
  /** What every address begins with; empty on a page, whose server is its own. */
  base: string;
  /** What every request has. */
  init: RequestInit;
  headers(): Readonly<Record<string, string>>;
  /** Called after an answer 401. True: the request is sent once more. */
  renew(name: RouteName): Promise<boolean>;
}

export interface Client {
  /** The answer's JSON; undefined where it has no body. Throws Refusal. */
  call<R extends RouteName>(name: R, ...given: Given<R>): Promise<Answer<R>>;
  /** The answer as it comes, for streams and files. Throws Refusal. */
  request<R extends RouteName>(name: R, ...given: Given<R>): Promise<Response>;
  /** The answer whatever its status is. Throws Refusal where no server answers. */
  ask<R extends RouteName>(name: R, ...given: Given<R>): Promise<Response>;
}

export function createClient(connection: Connection): Client {
  const ask = async (name: RouteName, options: LooseOptions = {}): Promise<Response> => {
    const response = await send(connection, name, options);
    if (response.status !== 401 || !(await connection.renew(name))) return response;
    await response.body?.cancel();
    return await send(connection, name, options);
  };
  const request = async (name: RouteName, options: LooseOptions = {}): Promise<Response> => {
    const response = await ask(name, options);
    if (!response.ok) throw await Refusal.from(response);
    return response;
  };
  const call = async <R extends RouteName>(name: R, options: LooseOptions = {}): Promise<Answer<R>> => {
    const response = await request(name, options);
    const text = await response.text();
    return (text === '' ? undefined : readJson(text, response.status)) as Answer<R>;
  };
  return { call, request, ask };
}

/** Something else than our server may answer at an address. */
function readJson(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Refusal(status, 'no_json', 'the answer is no JSON', { cause });
  }
}

async function send({ base, init, headers }: Connection, name: RouteName, options: LooseOptions): Promise<Response> {
  const { body, signal = init.signal, keepalive } = options;
  const [method = 'GET', path = ''] = name.split(' ');
  const isJson = body !== undefined && !(body instanceof Blob || body instanceof Uint8Array || body instanceof FormData);
  try {
    return await fetch(base + addressOf(path, options), {
      ...init,
      method,
      headers: { ...headers(), ...(isJson && { 'content-type': 'application/json' }), ...options.headers },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as NonNullable<RequestInit['body']>) }),
      ...(signal && { signal }),
      ...(keepalive !== undefined && { keepalive }),
    });
  } catch (error) {
    // A request that took too long was not answered; one that its caller gave up ends as the caller said.
    if (signal?.aborted && (error as Error).name !== 'TimeoutError') throw error;
    throw Refusal.unreachable(error, base);
  }
}

/** A path with its parameters, and behind it what the query gives. */
export function addressOf(path: string, { params = {}, query = {} }: Pick<LooseOptions, 'params' | 'query'> = {}): string {
  const values = new Map<string, unknown>(Object.entries(params));
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(values.get(key))));
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(Object.fromEntries(given.map(([key, value]) => [key, String(value)]))).toString();
  return search === '' ? filled : `${filled}?${search}`;
}
