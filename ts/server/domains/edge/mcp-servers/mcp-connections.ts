/** Connections to MCP servers of others, kept while they are used, with what each server offered last. */
import type {
  AuthProvider,
  CallToolResult,
  Client,
  JsonSchemaValidatorResult,
  OAuthClientProvider,
  Transport,
} from '@modelcontextprotocol/client';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import { HttpClientError } from '../../../platform/network/http-client-error.ts';
import { type AskPerson, hashOf } from '../../../platform/tools/tool.ts';
import { toolChanged } from '../approvals/approvals.ts';
import { edgeError } from '../errors.ts';
import { definitionsOf, type McpDefinition, toolName } from './definitions.ts';
import { type PlacedServer, programOf } from './placed-servers.ts';
import { MOST_BYTES, policyFetch } from './policy-fetch.ts';
import { ServerQuestions } from './server-questions.ts';

export interface McpTarget {
  /** The connection is shared by all who have the same key: it names a person where a person's credential is used. */
  readonly key: string;
  readonly label: string;
  /** An address, or a program of this machine. */
  readonly place: URL | PlacedServer;
  readonly authProvider: AuthProvider | OAuthClientProvider | undefined;
  /** The server was asked what it offers. */
  onSeen(definitions: readonly McpDefinition[]): Promise<void>;
}

interface McpConnectionsOptions {
  readonly client: HttpClient;
  readonly version: string;
  readonly now: () => number;
  /** How long a connection that nobody uses is kept. */
  readonly idleMs?: number;
}

interface Connection {
  readonly client: Client;
  readonly questions: ServerQuestions;
  definitions: readonly McpDefinition[];
  listedAt: number;
}

interface Entry {
  readonly opened: Promise<Connection>;
  usedAt: number;
  nRunning: number;
}

export interface ToolCallOptions {
  readonly name: string;
  readonly arguments: unknown;
  /** The hash of the definition that was approved. */
  readonly hash: string;
  readonly ask: AskPerson | undefined;
  /** It ends the call: how long a call may take is not the connection’s to know. */
  readonly signal: AbortSignal;
}

const MOST_CONNECTIONS = 100;
const IDLE_MS = 5 * 60 * 1000;
/** The server is asked again what it offers after so long, or when it says that it changed. */
const LIST_VALID_MS = 5 * 60 * 1000;
const CONNECT_MS = 15_000;
const MOST_PAGES = 20;
/** A call ends sooner, by its signal. */
const CALL_MS = 3_600_000;
const NOT_FOUND = 404;

export class McpConnections {
  readonly #options: McpConnectionsOptions;
  readonly #entries = new Map<string, Entry>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: McpConnectionsOptions) {
    this.#options = options;
  }

  /** Asks the server what it offers. Throws `mcp_server_failed`, and what signing in needs. */
  async refresh(target: McpTarget): Promise<readonly McpDefinition[]> {
    return await this.#use(target, async (connection) => {
      await this.#list(target, connection);
      return connection.definitions;
    });
  }

  /** Throws `tool_changed` where the server has another tool of that name than the one that was approved. */
  async call(target: McpTarget, { name, arguments: given, hash, ask, signal }: ToolCallOptions): Promise<CallToolResult> {
    return await this.#use(
      target,
      async (connection) => {
        if (this.#options.now() - connection.listedAt > LIST_VALID_MS) await this.#list(target, connection);
        const definition = connection.definitions.find((each) => each.name === name);
        if (definition === undefined || hashOf(definition) !== hash) throw toolChanged(toolName(target.label, name));
        const limits = { signal, timeout: CALL_MS, maxTotalTimeout: CALL_MS };
        const call = { name, arguments: given as Record<string, unknown> };
        return await connection.questions.during(ask, () => connection.client.callTool(call, limits));
      },
      signal,
    );
  }

  /** The next call connects again: the address or the credential changed. */
  async forget(isConcerned: (key: string) => boolean): Promise<void> {
    await Promise.all([...this.#entries.keys()].filter(isConcerned).map((key) => this.#drop(key)));
  }

  async close(): Promise<void> {
    clearTimeout(this.#sweep);
    this.#sweep = undefined;
    await this.forget(() => true);
  }

  async #use<T>(target: McpTarget, work: (connection: Connection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let isSecond = false; ; isSecond = true) {
      const entry = await this.#entryOf(target);
      entry.nRunning += 1;
      try {
        return await work(await entry.opened);
      } catch (error) {
        // Whoever asked waits no more, which says nothing of the server.
        if (signal?.aborted === true) throw signal.reason;
        const isGone = statusOf(error) === NOT_FOUND;
        if (isGone || !isRefusal(error)) await this.#drop(target.key);
        // A session that the server has forgotten: nothing was done yet.
        if (!isGone || isSecond) throw failureOf(error, target);
      } finally {
        entry.nRunning -= 1;
        entry.usedAt = this.#options.now();
        this.#sweepLater();
      }
    }
  }

  async #entryOf(target: McpTarget): Promise<Entry> {
    const known = this.#entries.get(target.key);
    if (known !== undefined) return known;
    await this.#endUnused();
    // Another call may have connected meanwhile.
    const made = this.#entries.get(target.key);
    if (made !== undefined) return made;
    const entry: Entry = { opened: this.#open(target), usedAt: this.#options.now(), nRunning: 0 };
    // Whoever waits for it is told.
    entry.opened.catch(() => undefined);
    this.#entries.set(target.key, entry);
    return entry;
  }

  /** A connection that nobody uses ends also where no other call comes: it may be a program. */
  #sweepLater(): void {
    const { idleMs = IDLE_MS } = this.#options;
    this.#sweep ??= setTimeout(() => {
      this.#sweep = undefined;
      if (this.#entries.size > 0) this.#sweepLater();
      void this.#endUnused();
    }, idleMs).unref();
  }

  /** Ends what nobody used for long, and the oldest beyond the limit. */
  async #endUnused(): Promise<void> {
    const { now, idleMs = IDLE_MS } = this.#options;
    const since = now() - idleMs;
    const unused = [...this.#entries]
      .filter(([, { nRunning }]) => nRunning === 0)
      .toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    const nBeyond = Math.max(0, this.#entries.size - MOST_CONNECTIONS + 1);
    const ended = unused.filter(([, { usedAt }], i) => usedAt <= since || i < nBeyond);
    await Promise.all(ended.map(([key]) => this.#drop(key)));
  }

  async #open(target: McpTarget): Promise<Connection> {
    const { version, client: http } = this.#options;
    const library = await import('@modelcontextprotocol/client');
    const client = new library.Client(
      { name: 'svc', version },
      {
        versionNegotiation: { mode: 'auto' },
        jsonSchemaValidator: { getValidator: <T>() => acceptAll<T> },
        capabilities: ServerQuestions.capabilities,
      },
    );
    const questions = new ServerQuestions(client);
    const transport =
      target.place instanceof URL
        ? httpTransport(library, http, target.place, target.authProvider)
        : await programTransport(target.place);
    try {
      await client.connect(transport, { timeout: CONNECT_MS, maxTotalTimeout: CONNECT_MS });
      const connection: Connection = { client, questions, definitions: [], listedAt: 0 };
      client.setNotificationHandler('notifications/tools/list_changed', () => {
        connection.listedAt = 0;
      });
      await this.#list(target, connection);
      return connection;
    } catch (error) {
      await client.close().catch(() => undefined);
      throw error;
    }
  }

  async #list({ onSeen }: McpTarget, connection: Connection): Promise<void> {
    const limits = { timeout: CONNECT_MS, maxTotalTimeout: CONNECT_MS, cacheMode: 'refresh' as const };
    const tools: Parameters<typeof definitionsOf>[0][number][] = [];
    let cursor: string | undefined;
    for (let n = 0; n < MOST_PAGES; n += 1) {
      const page = await connection.client.listTools(cursor === undefined ? undefined : { cursor }, limits);
      tools.push(...page.tools);
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    connection.definitions = definitionsOf(tools);
    connection.listedAt = this.#options.now();
    await onSeen(connection.definitions);
  }

  async #drop(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    const connection = await entry?.opened.catch(() => undefined);
    await connection?.client.close().catch(() => undefined);
  }
}

function httpTransport(
  library: typeof import('@modelcontextprotocol/client'),
  http: HttpClient,
  url: URL,
  authProvider: McpTarget['authProvider'],
): Transport {
  return new library.StreamableHTTPClientTransport(url, {
    fetch: policyFetch(http),
    ...(authProvider !== undefined && { authProvider }),
  });
}

/** The standard error of the program goes nowhere: it may say what it likes. */
async function programTransport(server: PlacedServer): Promise<Transport> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  return new StdioClientTransport({ ...(await programOf(server)), stderr: 'ignore', maxBufferSize: MOST_BYTES });
}

/** A result is data whatever it looks like; its schema may be one that takes for ever. */
function acceptAll<T>(data: unknown): JsonSchemaValidatorResult<T> {
  return { valid: true, data: data as T, errorMessage: undefined };
}

function isRefusal(error: unknown): boolean {
  return error instanceof DomainError || (error as Error).name === 'ProtocolError';
}

function statusOf(error: unknown): number | undefined {
  return (error as { status?: number }).status;
}

/** Names and addresses inside the network stay out. */
function failureOf(error: unknown, { label, authProvider }: McpTarget): unknown {
  const known = causes(error).find((each) => each instanceof DomainError);
  if (known !== undefined) return known;
  const { name, message } = error as Error;
  if (name === 'UnauthorizedError' && authProvider !== undefined && 'redirectUrl' in authProvider)
    return edgeError('mcp_sign_in_needed', `${label} wants you to sign in: svc mcp sign-in ${label}.`);
  if (name === 'ProtocolError') return edgeError('tool_failed', `${label} refused: ${message.slice(0, 500)}`, { cause: error });
  const reason = error instanceof HttpClientError ? error.message : (statusText(error) ?? shortReason(error));
  return edgeError('mcp_server_failed', `The MCP server ${label} gave no answer that can be used: ${reason}.`, { cause: error });
}

function statusText(error: unknown): string | undefined {
  const status = statusOf(error);
  return status === undefined ? undefined : `it answered ${status}`;
}

function shortReason(error: unknown): string {
  const tooMuch = causes(error).find((each) => each instanceof HttpClientError);
  if (tooMuch !== undefined) return (tooMuch as Error).message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'REQUEST_TIMEOUT') return 'it took too long';
  if ((error as Error).name === 'UnauthorizedError') return 'it does not take the credential';
  return /^it has |^the definitions /.test(message) ? message : (code ?? 'the connection failed');
}

function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let each = error; each instanceof Error && found.length < 8; each = each.cause) found.push(each);
  return found;
}
