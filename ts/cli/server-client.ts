/** Talks to a running server as any client would. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_TOKEN_FILE } from '../server/domains/identity/index.ts';
import { parseListenAddress } from '../server/platform/config/listen-address.ts';
import { CliError } from './cli-error.ts';
import type { Invocation, Options } from './command.ts';
import { readConfig } from './configuration.ts';
import { printable } from './format.ts';

export const clientOptions = {
  url: { kind: 'text', value: 'URL', help: 'server to talk to (else SVC_URL, else the configured listener)' },
  'api-key': { kind: 'text', value: 'KEY', help: 'key of that server (better in SVC_API_KEY: other users see command lines)' },
} as const satisfies Options;

/** Its body can be sent again. */
type SentRequest = Omit<RequestInit, 'headers' | 'body'> & {
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array<ArrayBuffer>;
};

const JSON_BODY = { 'content-type': 'application/json' } as const;

export interface ServerAnswer {
  status: number;
  body: unknown;
}

export class ServerClient {
  readonly base: URL;
  readonly #readCredential: () => string | undefined;
  #credential: string | undefined;

  private constructor(base: URL, readCredential: () => string | undefined) {
    this.base = base;
    this.#readCredential = readCredential;
    this.#credential = readCredential();
  }

  static from(invocation: Invocation<typeof clientOptions>): ServerClient {
    const { options, env } = invocation;
    const named = options.url ?? env['SVC_URL'];
    const config = named === undefined ? readConfig(invocation).values : undefined;
    const text = named ?? listenUrl(config?.listen ?? '');
    const base = URL.canParse(text) ? new URL(text) : undefined;
    if (!base || !/^https?:$/.test(base.protocol)) {
      throw new CliError('usage', 'usage', `"${text}" is no server address`, 'give it as http://127.0.0.1:8880');
    }
    // The token is for the server of this machine's own configuration, and goes nowhere else.
    const localToken = () => (config === undefined ? undefined : readLocalToken(config.data_dir));
    return new ServerClient(base, () => options['api-key'] ?? env['SVC_API_KEY'] ?? localToken());
  }

  /** Any status; throws CliError unreachable when nothing answers. */
  async get(path: string, signal: AbortSignal): Promise<ServerAnswer> {
    const response = await this.#send(path, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    });
    const text = await response.text();
    return { status: response.status, body: parseJson(text) };
  }

  /** The answer's JSON; every status but 2xx becomes a CliError with the server's own sentence. */
  async send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    const json = body !== undefined && { headers: JSON_BODY, body: JSON.stringify(body) };
    const init = { method, ...json, signal };
    const response = await this.#send(path, init);
    const answer = parseJson(await response.text());
    if (response.ok) return answer;
    throw refused(response.status, answer);
  }

  /** Any status, for a request with JSON or with bytes; throws CliError unreachable when nothing answers. */
  async ask(
    method: 'POST' | 'DELETE',
    path: string,
    body: Uint8Array<ArrayBuffer> | object | undefined,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ServerAnswer> {
    const isBytes = body instanceof Uint8Array;
    const type: Record<string, string> = body === undefined || isBytes ? {} : { 'content-type': 'application/json' };
    const response = await this.#send(path, {
      ...{ method, signal, headers: { ...type, ...headers } },
      ...(body !== undefined && { body: isBytes ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: parseJson(await response.text()) };
  }

  /** The open response to a GET, for what streams; every status but 2xx becomes a CliError with the server's own sentence. */
  async stream(path: string, signal: AbortSignal): Promise<Response> {
    const response = await this.#send(path, { signal });
    if (response.ok) return response;
    throw refused(response.status, parseJson(await response.text()));
  }

  /** The open response of a 2xx; every other status becomes a CliError with the server's own sentence. */
  async post(path: string, body: unknown, signal: AbortSignal): Promise<Response> {
    const response = await this.#send(path, { method: 'POST', headers: JSON_BODY, body: JSON.stringify(body), signal });
    if (response.ok) return response;
    throw refused(response.status, parseJson(await response.text()));
  }

  /** A server that was started anew made another local token: where that was all, the request is sent once more with it. */
  async #send(path: string, init: SentRequest): Promise<Response> {
    const response = await this.#fetch(path, init);
    if (response.status !== 401) return response;
    const sent = this.#credential;
    this.#credential = this.#readCredential();
    if (this.#credential === sent) return response;
    await response.body?.cancel();
    return await this.#fetch(path, init);
  }

  async #fetch(path: string, init: SentRequest): Promise<Response> {
    const headers = {
      'user-agent': 'svc-cli',
      ...(this.#credential !== undefined && { authorization: `Bearer ${this.#credential}` }),
      ...init.headers,
    };
    const prefix = this.base.pathname.replace(/(?<!\/)\/+$/, '');
    try {
      return await fetch(new URL(prefix + path, this.base), { ...init, headers });
    } catch (error) {
      if ((error as Error).name === 'AbortError') throw error;
      const reason = ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message;
      const remedy = 'start it with `svc serve`, or name another server with --url';
      throw new CliError('unreachable', 'unreachable', `no server answers at ${this.base.origin} (${reason})`, remedy, error);
    }
  }
}

/** Whoever may read the data of the server may administer it; others need a key. */
function readLocalToken(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, LOCAL_TOKEN_FILE), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** A listener on every address is reached on this machine's own. */
function listenUrl(listen: string): string {
  const { host, port } = parseListenAddress(listen);
  const reachable = host === '0.0.0.0' || host === '' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function refused(status: number, body: unknown): CliError {
  const sentence = printable(errorSentence(body) ?? 'no reason given');
  const remedy =
    status === 401
      ? 'give a key with --api-key or SVC_API_KEY, or run this as the user that owns the data folder of the server'
      : status === 404
        ? 'run `svc status` for its models'
        : 'see the log of the server';
  return new CliError(
    status === 404 ? 'not_found' : status === 409 ? 'conflict' : 'failed',
    `http_${status}`,
    `the server answers ${status}: ${sentence}`,
    remedy,
  );
}

/** The sentence of either error shape; `detail` may be JSON inside a string. */
export function errorSentence(body: unknown): string | undefined {
  if (typeof body === 'string') {
    const inner = parseJson(body);
    return typeof inner === 'string' ? inner.slice(0, 500) || undefined : errorSentence(inner);
  }
  if (typeof body !== 'object' || body === null) return undefined;
  const { error, detail, message } = body as { error?: unknown; detail?: unknown; message?: unknown };
  if (typeof message === 'string') return message;
  return (detail === undefined ? undefined : errorSentence(detail)) ?? errorSentence(error);
}
