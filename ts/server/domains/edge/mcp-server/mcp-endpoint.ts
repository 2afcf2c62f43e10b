/**
 * MCP over Streamable HTTP. Requests of the revision 2026-07-28 stand for themselves; those of 2025-11-25 and before belong to sessions. The library
 * is loaded with the first request: most nodes get none.
 */
import type { ReadableStreamDefaultReader } from 'node:stream/web';
import type { McpHttpHandler, McpServerFactory } from '@modelcontextprotocol/server';
import { parseJsonBody } from '../../../platform/http/body/body-reader.ts';
import { HttpError } from '../../../platform/http/errors.ts';
import { type EventStream, json, type Reply, type RequestContext } from '../../../platform/http/route.ts';
import { type AuditSource, auditSource } from '../../identity/index.ts';
import { McpSessions } from './mcp-sessions.ts';

export type McpLibrary = typeof import('@modelcontextprotocol/server');

interface McpEndpointOptions {
  /** The function makes what is served: one for a request, or for a session. */
  readonly newServer: (library: McpLibrary) => McpServerFactory;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

interface Opened {
  readonly library: McpLibrary;
  readonly modern: McpHttpHandler;
  readonly sessions: McpSessions;
}

/** The fields that the protocol has; credentials go no further than the router. */
const PASSED_FIELD = /^(?:accept|content-type|last-event-id|mcp-.*)$/;
/** Fields that the answer gets where it is sent. */
const OWN_FIELDS = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding']);
const PARSE_ERROR = -32_700;

export class McpEndpoint {
  readonly #options: McpEndpointOptions;
  #opened: Promise<Opened> | undefined;

  constructor(options: McpEndpointOptions) {
    this.#options = options;
  }

  /** @param body the bytes of the request; undefined: it has none. */
  async answer(context: RequestContext, method: string, body: Uint8Array | undefined): Promise<Reply> {
    const message = body === undefined ? undefined : readMessage(body);
    if (message instanceof HttpError) return jsonRpcRefusal(400, PARSE_ERROR, message.message);
    const { library, modern, sessions } = await this.#open();
    const headers = [...context.headers].filter(([name]) => PASSED_FIELD.test(name));
    const request = new Request('http://localhost/mcp', {
      method,
      headers,
      signal: context.signal,
      ...(body !== undefined && { body: Buffer.from(body) }),
    });
    const source = auditSource(context);
    const { subject, keyId, kind, scopes } = source.caller;
    const authInfo = { token: '', clientId: subject ?? keyId ?? kind, scopes: [...scopes], extra: { source } };
    const options = { authInfo, ...(message !== undefined && { parsedBody: message }) };
    const isOfSession = await library.isLegacyRequest(request, message);
    return await replyOf(await (isOfSession ? sessions.answer(request, options, source.caller) : modern.fetch(request, options)));
  }

  async close(): Promise<void> {
    const opened = await this.#opened;
    this.#opened = undefined;
    await Promise.all([opened?.modern.close(), opened?.sessions.close()]);
  }

  #open(): Promise<Opened> {
    if (this.#opened === undefined) {
      this.#opened = this.#load();
      // The next request tries again.
      this.#opened.catch(() => {
        this.#opened = undefined;
      });
    }
    return this.#opened;
  }

  async #load(): Promise<Opened> {
    const { newServer, now, onError } = this.#options;
    const library = await import('@modelcontextprotocol/server');
    const factory = newServer(library);
    const modern = library.createMcpHandler(factory, { legacy: 'reject', onerror: onError });
    return { library, modern, sessions: new McpSessions({ library, factory, now, onError }) };
  }
}

/** The caller of a request, in a handler of the library's. */
export function sourceOf(context: {
  readonly http?: { readonly authInfo?: { readonly extra?: Record<string, unknown> } };
}): AuditSource {
  return context.http?.authInfo?.extra?.['source'] as AuditSource;
}

function jsonRpcRefusal(status: number, code: number, message: string): Reply {
  return json(status, { jsonrpc: '2.0', error: { code, message }, id: null });
}

function readMessage(body: Uint8Array): unknown {
  try {
    return parseJsonBody(body, 'free');
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}

/** The body goes as fast as the client reads, and is cancelled when the client goes away. */
async function passOn(reader: ReadableStreamDefaultReader<Uint8Array>, stream: EventStream): Promise<void> {
  let isClosed = false;
  let wake = (): void => {};
  stream.onDrain(() => wake());
  stream.onClose(() => {
    isClosed = true;
    wake();
    reader.cancel().catch(() => undefined);
  });
  try {
    for (let part = await reader.read(); !part.done && !isClosed; part = await reader.read()) {
      if (stream.write(part.value) || isClosed) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } catch {
    // The body broke off: the library has reported why.
  } finally {
    stream.end();
  }
}

async function replyOf(response: Response): Promise<Reply> {
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !OWN_FIELDS.has(name)));
  const { status, body } = response;
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
  if (isStream && body !== null) return { kind: 'events', headers, start: (stream) => void passOn(body.getReader(), stream) };
  return { kind: 'bytes', status, headers, body: new Uint8Array(await response.arrayBuffer()) };
}
