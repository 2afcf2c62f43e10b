/** Calls routes by their name; the types come from openapi.json, so that a page cannot disagree with a route. */
import { Refusal } from './refusal.ts';
import type { Routes } from './routes.ts';
import { sessionRestored } from './session-guard.ts';

export type RouteName = keyof Routes;
type Part<R extends RouteName, K extends string> = K extends keyof Routes[R] ? Pick<Routes[R], K> : unknown;
export type CallOptions<R extends RouteName> = Part<R, 'params'> & Part<R, 'query'> & Part<R, 'body'> & { signal?: AbortSignal };
export type Answer<R extends RouteName> = Routes[R]['answer'];

interface LooseOptions {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
  keepalive?: boolean;
}

// biome-ignore lint/complexity/noBannedTypes: whether every member is optional is asked
type Given<R extends RouteName> = {} extends CallOptions<R> ? [options?: CallOptions<R>] : [options: CallOptions<R>];

/** Throws Refusal. An answer without a body is undefined. */
export async function call<R extends RouteName>(name: R, ...[options]: Given<R>): Promise<Answer<R>> {
  const response = await request(name, options as LooseOptions | undefined);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as Answer<R>;
}

/**
 * The answer as it comes, for streams and files. What changes something and finds the session ended goes on once the reader has signed in again; what
 * only reads may be asked by the page itself. Throws Refusal unless its status is 2xx.
 */
export async function request(name: RouteName, options: LooseOptions = {}): Promise<Response> {
  const response = await send(name, options);
  const mayGoOn = response.status === 401 && !name.startsWith('GET ') && name !== 'POST /api/v1/auth/login';
  const last = mayGoOn && (await sessionRestored()) ? await send(name, options) : response;
  if (!last.ok) throw await Refusal.from(last);
  return last;
}

async function send(name: RouteName, options: LooseOptions): Promise<Response> {
  const { body, signal, headers = {}, keepalive = false } = options;
  const [method = 'GET', path = ''] = name.split(' ');
  const isJson = body !== undefined && !(body instanceof Blob);
  try {
    return await fetch(addressOf(path, options), {
      method,
      headers: { ...(isJson ? { 'content-type': 'application/json' } : {}), ...headers },
      credentials: 'same-origin',
      cache: 'no-store',
      keepalive,
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as Blob) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw Refusal.unreachable(error);
  }
}

export function addressOf(path: string, { params = {}, query = {} }: Pick<LooseOptions, 'params' | 'query'> = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(params[key])));
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return search === '' ? filled : `${filled}?${search}`;
}
