/** Sessions of MCP's revisions before 2026. Each belongs to the caller that began it: to all others it is one that is not there. */
import { randomUUID } from 'node:crypto';
import type {
  EventStore,
  JSONRPCMessage,
  McpHandlerRequestOptions,
  McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../../platform/http/principal.ts';
import { edgeError } from '../errors.ts';
import type { McpLibrary } from './mcp-endpoint.ts';

interface McpSessionsOptions {
  readonly library: McpLibrary;
  readonly factory: McpServerFactory;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

interface Session {
  readonly owner: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAt: number;
}

const MOST_SESSIONS = 1_000;
/** One caller that begins sessions and leaves them ends its own ones. */
const MOST_OF_CALLER = 50;
const IDLE_MS = 60 * 60 * 1000;
const SESSION_HEADER = 'mcp-session-id';

export class McpSessions {
  readonly #options: McpSessionsOptions;
  /** The one that was used longest ago is the first. */
  readonly #sessions = new Map<string, Session>();

  constructor(options: McpSessionsOptions) {
    this.#options = options;
  }

  async answer(request: Request, options: McpHandlerRequestOptions, caller: Principal): Promise<Response> {
    const owner = ownerOf(caller);
    const id = request.headers.get(SESSION_HEADER);
    if (id !== null) return await this.#continue(id, owner, request, options);
    if (request.method === 'POST' && this.#isInitialize(options.parsedBody)) return await this.#begin(owner, request, options);
    throw edgeError('mcp_session_missing', 'The header Mcp-Session-Id is missing.');
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }

  #isInitialize(message: unknown): boolean {
    const messages = Array.isArray(message) ? (message as unknown[]) : [message];
    return messages.some((each) => this.#options.library.isInitializeRequest(each));
  }

  async #continue(id: string, owner: string, request: Request, options: McpHandlerRequestOptions): Promise<Response> {
    const session = this.#sessions.get(id);
    if (session === undefined || session.owner !== owner) throw edgeError('mcp_session_not_found', 'There is no such session.');
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    session.usedAt = this.#options.now();
    return await session.transport.handleRequest(request, options);
  }

  async #begin(owner: string, request: Request, options: McpHandlerRequestOptions): Promise<Response> {
    const { library, factory, now, onError } = this.#options;
    const { authInfo } = options;
    const server = await factory({ era: 'legacy', requestInfo: request, ...(authInfo !== undefined && { authInfo }) });
    const transport = new library.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new ReplayBuffer(),
      onsessioninitialized: async (id) => {
        this.#sessions.set(id, { owner, transport, usedAt: now() });
        await this.#endUnused(owner);
      },
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    transport.onerror = onError;
    await server.connect(transport);
    const response = await transport.handleRequest(request, options);
    if (transport.sessionId === undefined) await transport.close();
    return response;
  }

  /** Ends what nobody used for long, and the oldest beyond the limits. */
  async #endUnused(owner: string): Promise<void> {
    const since = this.#options.now() - IDLE_MS;
    const all = [...this.#sessions];
    const own = all.filter(([, session]) => session.owner === owner);
    const ended = new Set([
      ...all.filter(([, { usedAt }]) => usedAt < since).map(([id]) => id),
      ...own.slice(0, -MOST_OF_CALLER).map(([id]) => id),
      ...all.slice(0, -MOST_SESSIONS).map(([id]) => id),
    ]);
    await Promise.all([...ended].map((id) => this.#end(id)));
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.transport.close();
  }
}

/** Another key of the same person is another caller: it may have other scopes. */
function ownerOf({ tenant, kind, subject, keyId }: Principal): string {
  return JSON.stringify([tenant, kind, subject, keyId]);
}

/** The last messages of a session, for a client whose connection broke. */
class ReplayBuffer implements EventStore {
  static readonly #most = 200;
  static readonly #mostBytes = 1024 * 1024;
  readonly #events: {
    readonly id: string;
    readonly stream: string;
    readonly message: JSONRPCMessage;
    readonly sizeBytes: number;
  }[] = [];
  #sizeBytes = 0;
  #n = 0;

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = `${++this.#n}`;
    const sizeBytes = JSON.stringify(message).length;
    this.#events.push({ id, stream, message, sizeBytes });
    this.#sizeBytes += sizeBytes;
    while (this.#events.length > ReplayBuffer.#most || this.#sizeBytes > ReplayBuffer.#mostBytes)
      this.#sizeBytes -= this.#events.shift()?.sizeBytes ?? 0;
    return id;
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.find((event) => event.id === id)?.stream;
  }

  async replayEventsAfter(
    id: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.#events.findIndex((event) => event.id === id);
    const stream = this.#events[at]?.stream;
    if (stream === undefined) throw new Error('the event is too old to go on from');
    for (const event of this.#events.slice(at + 1)) if (event.stream === stream) await send(event.id, event.message);
    return stream;
  }
}
