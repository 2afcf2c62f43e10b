/** The MCP servers that administrators registered for their tenants, and those that the operator placed on this machine. */
import { join } from 'node:path';
import type { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { AddressPolicy } from '../../../platform/network/address-policy.ts';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import type { StorageError, TenantScope } from '../../../platform/storage/index.ts';
import { ownerKey } from '../approvals/approvals.ts';
import { edgeError } from '../errors.ts';
import { PLACED_FILE } from '../settings.ts';
import type { EdgeStorage, McpServerRow } from '../tables.ts';
import { compareDefinitions, hashOfAll, type McpDefinition, type SeenDefinition } from './definitions.ts';
import { readableOf } from './listed-tools.ts';
import { McpConnections, type McpTarget, type ToolCallOptions } from './mcp-connections.ts';
import { PLACED_PREFIX, type PlacedServer, PlacedServers, placedAddress } from './placed-servers.ts';
import { policyFetch } from './policy-fetch.ts';
import { type McpAuth, ServerCredentials } from './server-credentials.ts';
import { McpServerStore } from './server-store.ts';

interface McpServersOptions {
  readonly storage: EdgeStorage;
  readonly client: HttpClient;
  readonly policy: AddressPolicy;
  readonly version: string;
  readonly publicUrl: string;
  readonly dataDir: string;
  readonly log: Pick<Log, 'warn'>;
  sealingKey(): Promise<SealingKey>;
  now(): number;
}

interface NewMcpServer {
  readonly label: string;
  readonly url: string;
  readonly auth: McpAuth;
  readonly tools?: readonly string[] | undefined;
}

interface McpServerChange {
  readonly url?: string | undefined;
  readonly auth?: McpAuth | undefined;
  readonly tools?: readonly string[] | null | undefined;
  readonly enabled?: boolean | undefined;
}

export interface ShownServer {
  readonly row: McpServerRow;
  readonly seen: readonly SeenDefinition[];
  /** Undefined: it answered when it was asked last. */
  readonly reason: string | undefined;
}

export const CALL_SECONDS = 120;
/** A server that failed is offered again after so long. */
const RETRY_MS = 30_000;
const MOST_SERVERS = 50;
export const MOST_REMEMBERED = 500;

export class McpServers {
  readonly #options: McpServersOptions;
  readonly #store: McpServerStore;
  readonly #credentials: ServerCredentials;
  readonly #connections: McpConnections;
  readonly #placed: PlacedServers;
  /** Why servers failed, and until when their tools are not offered. */
  readonly #failures = new Map<string, { readonly reason: string; readonly until: number }>();
  readonly #compared = new Map<string, readonly SeenDefinition[]>();

  constructor(options: McpServersOptions) {
    this.#options = options;
    this.#store = new McpServerStore(options.storage);
    this.#credentials = new ServerCredentials({ ...options, store: this.#store });
    this.#connections = new McpConnections(options);
    this.#placed = new PlacedServers(join(options.dataDir, PLACED_FILE), options.log);
  }

  /** A program ends when the operator takes it away, whether anybody asks for it or not. */
  start(): void {
    this.#placed.watch(() => void this.#endUnplaced());
  }

  async close(): Promise<void> {
    this.#placed.close();
    await this.#connections.close();
  }

  /** @param rows those of the tenant, where they are read already. */
  async list(scope: TenantScope, rows?: readonly McpServerRow[]): Promise<ShownServer[]> {
    return (await this.#rows(scope, rows)).map((row) => this.#shown(row));
  }

  async get(scope: TenantScope, label: string): Promise<ShownServer> {
    return this.#shown(await this.#row(scope, label));
  }

  /** Asks the server what it offers; one that does not answer is registered all the same. */
  async add(caller: Principal, { label, url, auth, tools }: NewMcpServer): Promise<ShownServer> {
    const scope = scopeOf(caller);
    if ((await this.#rows(scope)).length >= MOST_SERVERS)
      throw edgeError('invalid_request', `The tenant has ${MOST_SERVERS} MCP servers, which is as many as it may have.`, {
        param: 'label',
      });
    const at = this.#options.now();
    const row: McpServerRow = {
      ...newRow(scope, label, this.#address(url).href, at),
      ...(await this.#credentials.seal(scope, label, auth)),
      tools: tools === undefined ? null : JSON.stringify(tools),
    };
    await this.#store.add(scope, row).catch((error: StorageError) => {
      if (error.code !== 'unique_violation') throw error;
      throw edgeError('mcp_server_exists', `There is an MCP server ${label} already.`, { param: 'label' });
    });
    return await this.refresh(caller, label);
  }

  async change(caller: Principal, label: string, { url, auth, tools, enabled }: McpServerChange): Promise<ShownServer> {
    const scope = scopeOf(caller);
    const row = await this.#row(scope, label);
    if (isPlaced(row) && (url !== undefined || auth !== undefined)) throw placedHere(label);
    const address = url === undefined ? undefined : this.#address(url).href;
    const isElsewhere = address !== undefined && address !== row.url;
    if (isElsewhere && row.auth === 'bearer' && auth === undefined)
      throw edgeError('invalid_request', 'The token was given for the address before: give `auth` with the new one.', {
        param: 'auth',
      });
    await this.#store.change(scope, label, {
      ...(address !== undefined && { url: address }),
      ...(auth !== undefined && (await this.#credentials.seal(scope, label, auth))),
      ...(tools !== undefined && { tools: tools === null ? null : JSON.stringify(tools) }),
      ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }),
      // Another server has to be seen first, whatever it offers.
      ...(isElsewhere && { seen: '[]', seen_hash: '', approved: '[]', approved_hash: '' }),
      updated_at: this.#options.now(),
    });
    if (isElsewhere || auth !== undefined) {
      await this.#store.forgetTokens(scope, label);
      await this.#forget(scope, label);
    }
    return enabled === false ? await this.get(scope, label) : await this.refresh(caller, label);
  }

  async remove(scope: TenantScope, label: string): Promise<void> {
    if (isPlaced(await this.#row(scope, label))) throw placedHere(label);
    if (!(await this.#store.remove(scope, label))) throw serverNotFound(label);
    await this.#forget(scope, label);
  }

  /** Approves all that the server offers, as it was shown. Throws `tool_changed` where it offers something else by now. */
  async approve(scope: TenantScope, label: string, hash: string): Promise<ShownServer> {
    await this.#row(scope, label);
    if (await this.#store.approve(scope, label, hash, this.#options.now())) return await this.get(scope, label);
    throw edgeError('tool_changed', `${label} offers other tools than those of this hash: look at them again.`, {
      extra: { tool: label },
    });
  }

  /** The server is asked what it offers now; a failure is part of what is shown. */
  async refresh(caller: Principal, label: string): Promise<ShownServer> {
    const scope = scopeOf(caller);
    const row = await this.#row(scope, label);
    try {
      await this.#connections.refresh(await this.#target(row, caller));
      this.#failures.delete(keyOf(row));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.#failed(row, error);
    }
    return await this.get(scope, label);
  }

  /** The address at which the person signs in; undefined: it is signed in. */
  async startSignIn(caller: Principal, label: string): Promise<URL | undefined> {
    const row = await this.#row(scopeOf(caller), label);
    const person = await this.#credentials.personOf(row, caller);
    const pending = person.pendingUrl();
    if (pending !== undefined) return pending;
    // The server itself says what it wants: the scopes, and which provider.
    const target = { ...this.#targetOf(row, caller), authProvider: person };
    await this.#connections.forget((key) => key === target.key);
    await signingIn(label, () => this.#connections.refresh(target), 'mcp_sign_in_needed');
    return person.pendingUrl();
  }

  /** The provider sent the person back. */
  async endSignIn(
    caller: Principal,
    label: string,
    { code, state, iss }: { code: string; state: string; iss?: string | undefined },
  ): Promise<void> {
    const row = await this.#row(scopeOf(caller), label);
    const person = await this.#credentials.personOf(row, caller);
    await person.takeState(state);
    const { auth } = await import('@modelcontextprotocol/client');
    const options = {
      serverUrl: row.url,
      authorizationCode: code,
      fetchFn: policyFetch(this.#options.client),
      ...(iss !== undefined && { iss }),
    };
    await signingIn(label, () => auth(person, options));
    const key = connectionKey(row, caller);
    await this.#connections.forget((each) => each === key);
    this.#failures.delete(keyOf(row));
    await this.refresh(caller, label);
  }

  /** Throws what the server refuses with, `mcp_server_failed`, and `tool_changed` where the tool is another one than that of the hash. */
  async call(caller: Principal, label: string, call: ToolCallOptions): Promise<unknown> {
    const row = await this.#row(scopeOf(caller), label);
    try {
      return readableOf(await this.#connections.call(await this.#target(row, caller), call), label);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'mcp_server_failed') this.#failed(row, error);
      throw error;
    }
  }

  isSignedIn(row: McpServerRow, caller: Principal): Promise<boolean> {
    return this.#credentials.isSignedIn(row, caller);
  }

  async #row(scope: TenantScope, label: string): Promise<McpServerRow> {
    const row = (await this.#rows(scope)).find((each) => each.label === label);
    if (row === undefined) throw serverNotFound(label);
    return row;
  }

  /**
   * The rows, with the programs that the file of this machine has now. Rows of programs that it does not have are hidden and kept: another node of the cluster
   * may have them. Another program is another server, whose tools nobody has seen.
   */
  async #rows(scope: TenantScope, given?: readonly McpServerRow[]): Promise<McpServerRow[]> {
    const rows = given ?? (await this.#store.list(scope));
    const ofTenant = this.#placed.list().filter(({ tenant }) => tenant === scope.tenant);
    const addresses = new Map(ofTenant.map((server) => [server.label, placedAddress(server)]));
    const isHere = (row: McpServerRow): boolean => !isPlaced(row) || addresses.get(row.label) === row.url;
    const isKnown = (label: string): boolean => rows.some((row) => row.label === label && isHere(row));
    const missing = [...addresses].filter(([label]) => !isKnown(label));
    if (missing.length === 0) return rows.filter(isHere);
    for (const [label, url] of missing) {
      await this.#store.place(scope, newRow(scope, label, url, this.#options.now()));
      await this.#forget(scope, label);
    }
    return (await this.#store.list(scope)).filter(isHere);
  }

  async #endUnplaced(): Promise<void> {
    const kept = new Set(this.#placed.list().map((server) => `${keyOf(server)} ${placedAddress(server)}`));
    await this.#connections.forget((key) => key.includes(` ${PLACED_PREFIX}`) && !kept.has(key));
  }

  #placeOf(row: McpServerRow): URL | PlacedServer {
    if (!isPlaced(row)) return this.#address(row.url);
    const placed = this.#placed.list().find((server) => server.tenant === row.tenant && placedAddress(server) === row.url);
    if (placed === undefined) throw serverNotFound(row.label);
    return placed;
  }

  #shown(row: McpServerRow): ShownServer {
    return { row, seen: this.#compare(row), reason: this.#failureOf(row) };
  }

  /** Read once for each pair of hashes: every chat asks. */
  #compare({ approved, approved_hash, seen, seen_hash }: McpServerRow): readonly SeenDefinition[] {
    const key = `${approved_hash} ${seen_hash}`;
    const known = this.#compared.get(key);
    if (known !== undefined) return known;
    if (this.#compared.size > MOST_REMEMBERED) this.#compared.clear();
    const compared = compareDefinitions(listOf(approved), listOf(seen));
    this.#compared.set(key, compared);
    return compared;
  }

  #failureOf(row: McpServerRow): string | undefined {
    const failure = this.#failures.get(keyOf(row));
    return failure !== undefined && failure.until > this.#options.now() ? failure.reason : undefined;
  }

  #failed(row: McpServerRow, error: DomainError): void {
    if (this.#failures.size > MOST_REMEMBERED) this.#failures.clear();
    // That one person is not signed in says nothing of the server.
    if (error.code === 'mcp_sign_in_needed' && row.seen_at !== null) return;
    this.#failures.set(keyOf(row), { reason: error.sentence, until: this.#options.now() + RETRY_MS });
  }

  async #target(row: McpServerRow, caller: Principal): Promise<McpTarget> {
    return { ...this.#targetOf(row, caller), authProvider: await this.#credentials.providerOf(row, caller) };
  }

  #targetOf(row: McpServerRow, caller: Principal): Omit<McpTarget, 'authProvider'> {
    const scope = scopeOf(caller);
    return {
      key: connectionKey(row, caller),
      label: row.label,
      place: this.#placeOf(row),
      onSeen: async (definitions) => {
        const hash = hashOfAll(definitions);
        if (hash === row.seen_hash && row.seen_at !== null) return;
        const seen = { seen: JSON.stringify(definitions), seen_hash: hash, seen_at: this.#options.now() };
        await this.#store.change(scope, row.label, seen);
      },
    };
  }

  #address(url: string): URL {
    if (!URL.canParse(url)) throw edgeError('invalid_request', `${url.slice(0, 200)} is no address.`, { param: 'url' });
    const address = new URL(url);
    if (address.username !== '' || address.hash !== '')
      throw edgeError('invalid_request', 'The address of an MCP server has no credential and no fragment.', { param: 'url' });
    this.#options.policy.check(address);
    return address;
  }

  async #forget(scope: TenantScope, label: string): Promise<void> {
    const prefix = `${scope.tenant} ${label}`;
    this.#failures.delete(prefix);
    await this.#connections.forget((key) => key === prefix || key.startsWith(`${prefix} `));
  }
}

function newRow({ tenant }: TenantScope, label: string, url: string, at: number): McpServerRow {
  const unseen = { seen: '[]', seen_hash: '', seen_at: null, approved: '[]', approved_hash: '' };
  const open = { auth: 'none', sealed: null, sealed_by: null, tools: null, enabled: 1 } as const;
  return { tenant, label, url, ...open, ...unseen, created_at: at, updated_at: at };
}

function isPlaced({ url }: Pick<McpServerRow, 'url'>): boolean {
  return url.startsWith(PLACED_PREFIX);
}

function placedHere(label: string): DomainError {
  return edgeError(
    'invalid_request',
    `${label} is a program of the machine: its operator changes it there, with svc mcp add and svc mcp rm.`,
    { param: 'label' },
  );
}

/** @param expected what the work is to be refused with. */
async function signingIn(label: string, work: () => Promise<unknown>, expected?: string): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof DomainError && error.code === expected) return;
    if (error instanceof DomainError) throw error;
    const { name } = error as Error;
    throw edgeError('mcp_sign_in_failed', `Signing in to ${label} failed (${name.slice(0, 60)}).`, { cause: error });
  }
}

function listOf(text: string): McpDefinition[] {
  return JSON.parse(text) as McpDefinition[];
}

function keyOf({ tenant, label }: { readonly tenant: string; readonly label: string }): string {
  return `${tenant} ${label}`;
}

/** Only what no person's credential is used for is shared, and a program only as long as it is the same one. */
function connectionKey(row: McpServerRow, caller: Principal): string {
  if (isPlaced(row)) return `${keyOf(row)} ${row.url}`;
  return row.auth === 'oauth' ? `${keyOf(row)} ${ownerKey(caller)}` : keyOf(row);
}

function serverNotFound(label: string): DomainError {
  return edgeError('mcp_server_not_found', `There is no MCP server ${label.slice(0, 64)}.`);
}
