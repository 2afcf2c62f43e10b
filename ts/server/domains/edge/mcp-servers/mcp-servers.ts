/** The MCP servers that administrators registered for their tenants, and their tools. */
import type { StoredOAuthClientInformation } from '@modelcontextprotocol/client';
import type { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { AddressPolicy } from '../../../platform/network/address-policy.ts';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import type { StorageError, TenantScope } from '../../../platform/storage/index.ts';
import { defineTool, hashOf, type ListedTool, type Tool } from '../../../platform/tools/tool.ts';
import { ownerKey } from '../approvals/approvals.ts';
import { edgeError } from '../errors.ts';
import type { EdgeStorage, McpServerRow } from '../tables.ts';
import {
  compareDefinitions,
  hashOfAll,
  isCallableName,
  type McpDefinition,
  type SeenDefinition,
  toolName,
} from './definitions.ts';
import { ForeignSchemas } from './foreign-schema.ts';
import { readableOf, SIGN_IN_NEEDED, stateOf, withoutCollisions } from './listed-tools.ts';
import { McpConnections, type McpTarget } from './mcp-connections.ts';
import { OAuthPerson } from './oauth-sign-in.ts';
import { policyFetch } from './policy-fetch.ts';
import { McpServerStore } from './server-store.ts';

interface McpServersOptions {
  readonly storage: EdgeStorage;
  readonly client: HttpClient;
  readonly policy: AddressPolicy;
  readonly version: string;
  readonly publicUrl: string;
  sealingKey(): Promise<SealingKey>;
  now(): number;
}

interface McpAuth {
  readonly type: 'none' | 'bearer' | 'oauth';
  readonly token?: string | undefined;
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
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

const CALL_SECONDS = 120;
/** A server that failed is offered again after so long. */
const RETRY_MS = 30_000;
const MOST_SERVERS = 50;
const MOST_REMEMBERED = 500;

export class McpServers {
  readonly #options: McpServersOptions;
  readonly #store: McpServerStore;
  readonly #connections: McpConnections;
  readonly #schemas = new ForeignSchemas();
  /** Why servers failed, and until when their tools are not offered. */
  readonly #failures = new Map<string, { readonly reason: string; readonly until: number }>();
  readonly #compared = new Map<string, readonly SeenDefinition[]>();
  /** Tools by the hash of their definition: a call finds the one that was offered. */
  readonly #tools = new Map<string, Tool>();

  constructor(options: McpServersOptions) {
    this.#options = options;
    this.#store = new McpServerStore(options.storage);
    this.#connections = new McpConnections(options);
  }

  async close(): Promise<void> {
    await Promise.all([this.#connections.close(), this.#schemas.close()]);
  }

  /** Those of the caller's tenant; of a server that is off or changed, with the reason. */
  async toolsOf(caller: Principal): Promise<ListedTool[]> {
    const rows = await this.#store.list(scopeOf(caller));
    const lists = await Promise.all(rows.map((row) => this.#toolsOf(row, caller)));
    return withoutCollisions(lists.flat());
  }

  async list(scope: TenantScope): Promise<ShownServer[]> {
    return (await this.#store.list(scope)).map((row) => this.#shown(row));
  }

  async get(scope: TenantScope, label: string): Promise<ShownServer> {
    return this.#shown(await this.#row(scope, label));
  }

  /** Asks the server what it offers; one that does not answer is registered all the same. */
  async add(caller: Principal, { label, url, auth, tools }: NewMcpServer): Promise<ShownServer> {
    const scope = scopeOf(caller);
    if ((await this.#store.list(scope)).length >= MOST_SERVERS)
      throw edgeError('invalid_request', `The tenant has ${MOST_SERVERS} MCP servers, which is as many as it may have.`, {
        param: 'label',
      });
    const at = this.#options.now();
    const row: McpServerRow = {
      tenant: scope.tenant,
      label,
      url: this.#address(url).href,
      ...(await this.#sealed(scope, label, auth)),
      tools: tools === undefined ? null : JSON.stringify(tools),
      enabled: 1,
      seen: '[]',
      seen_hash: '',
      approved: '[]',
      approved_hash: '',
      seen_at: null,
      created_at: at,
      updated_at: at,
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
    const address = url === undefined ? undefined : this.#address(url).href;
    const isElsewhere = address !== undefined && address !== row.url;
    if (isElsewhere && row.auth === 'bearer' && auth === undefined)
      throw edgeError('invalid_request', 'The token was given for the address before: give `auth` with the new one.', {
        param: 'auth',
      });
    await this.#store.change(scope, label, {
      ...(address !== undefined && { url: address }),
      ...(auth !== undefined && (await this.#sealed(scope, label, auth))),
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
    const person = await this.#person(row, caller);
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
    const person = await this.#person(row, caller);
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

  async #row(scope: TenantScope, label: string): Promise<McpServerRow> {
    const row = await this.#store.find(scope, label);
    if (row === undefined) throw serverNotFound(label);
    return row;
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

  async #toolsOf(row: McpServerRow, caller: Principal): Promise<ListedTool[]> {
    const chosen = row.tools === null ? undefined : new Set(JSON.parse(row.tools) as string[]);
    const failure = this.#failureOf(row);
    const isSignedIn =
      row.auth !== 'oauth' || (await this.#store.findToken(scopeOf(caller), row.label, ownerKey(caller))) !== undefined;
    return this.#compare(row)
      .filter(({ definition: { name } }) => chosen === undefined || chosen.has(name))
      .filter(({ definition: { name } }) => isCallableName(row.label, name))
      .map(({ definition, state }) => {
        const { state: listed, reason } = stateOf(row, state, failure, isSignedIn);
        const shared = {
          tool: this.#toolOf(row, definition),
          module: 'edge' as const,
          source: `mcp:${row.label}`,
          state: listed,
        };
        return { ...shared, isRunning: listed === 'ready', ...(reason !== undefined && { reason }) };
      });
  }

  #toolOf({ tenant, label }: McpServerRow, definition: McpDefinition): Tool {
    const hash = hashOf(definition);
    const key = `${tenant} ${label} ${hash}`;
    const known = this.#tools.get(key);
    if (known !== undefined) return known;
    if (this.#tools.size > MOST_REMEMBERED) this.#tools.clear();
    const { name, description, input_schema: schema } = definition;
    const tool = defineTool({
      name: toolName(label, name),
      description,
      input: schema as never,
      effect: 'external',
      scope: 'tools:use',
      maxSeconds: CALL_SECONDS,
      isUntrusted: true,
      metricName: 'mcp',
      findFault: (value) => this.#schemas.findFault(schema, value),
      run: ({ caller, arguments: given }, signal) => this.#call(caller, label, { name, arguments: given, hash }, signal),
    });
    this.#tools.set(key, tool);
    return tool;
  }

  async #call(
    caller: Principal,
    label: string,
    call: { readonly name: string; readonly arguments: unknown; readonly hash: string },
    signal: AbortSignal,
  ): Promise<unknown> {
    const row = await this.#row(scopeOf(caller), label);
    try {
      const target = await this.#target(row, caller);
      return readableOf(await this.#connections.call(target, { ...call, seconds: CALL_SECONDS, signal }), label);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'mcp_server_failed') this.#failed(row, error);
      throw error;
    }
  }

  async #target(row: McpServerRow, caller: Principal): Promise<McpTarget> {
    return { ...this.#targetOf(row, caller), authProvider: await this.#authProvider(row, caller) };
  }

  #targetOf(row: McpServerRow, caller: Principal): Omit<McpTarget, 'authProvider'> {
    const scope = scopeOf(caller);
    return {
      key: connectionKey(row, caller),
      label: row.label,
      url: this.#address(row.url),
      onSeen: async (definitions) => {
        const hash = hashOfAll(definitions);
        if (hash === row.seen_hash && row.seen_at !== null) return;
        const seen = { seen: JSON.stringify(definitions), seen_hash: hash, seen_at: this.#options.now() };
        await this.#store.change(scope, row.label, seen);
      },
    };
  }

  async #authProvider(row: McpServerRow, caller: Principal): Promise<McpTarget['authProvider']> {
    if (row.auth === 'none') return undefined;
    if (row.auth === 'bearer') {
      const token = await this.#unseal(row);
      return { token: async () => token };
    }
    const person = await this.#person(row, caller);
    if (!person.isSignedIn) throw edgeError('mcp_sign_in_needed', `${row.label}: ${SIGN_IN_NEEDED}`);
    return person;
  }

  async #person(row: McpServerRow, caller: Principal): Promise<OAuthPerson> {
    const { sealingKey, now, publicUrl } = this.#options;
    if (row.auth !== 'oauth') throw edgeError('invalid_request', `${row.label} asks nobody to sign in.`, { param: 'label' });
    if (publicUrl === '')
      throw edgeError('mcp_sign_in_failed', 'edge.public_url is empty, so no provider can send a browser back here.');
    const registered = row.sealed === null ? undefined : (JSON.parse(await this.#unseal(row)) as StoredOAuthClientInformation);
    return await OAuthPerson.open({
      scope: scopeOf(caller),
      label: row.label,
      owner: ownerKey(caller),
      store: this.#store,
      publicUrl,
      registered,
      sealingKey,
      now,
    });
  }

  #address(url: string): URL {
    if (!URL.canParse(url)) throw edgeError('invalid_request', `${url.slice(0, 200)} is no address.`, { param: 'url' });
    const address = new URL(url);
    if (address.username !== '' || address.hash !== '')
      throw edgeError('invalid_request', 'The address of an MCP server has no credential and no fragment.', { param: 'url' });
    this.#options.policy.check(address);
    return address;
  }

  async #sealed(scope: TenantScope, label: string, { type, token, client_id, client_secret }: McpAuth) {
    if (type === 'bearer' && token === undefined)
      throw edgeError('invalid_request', 'auth.token is missing.', { param: 'auth.token' });
    if (type === 'none' || (type === 'oauth' && client_id === undefined)) return { auth: type, sealed: null, sealed_by: null };
    const sealing = await this.#options.sealingKey();
    const secret = type === 'bearer' ? (token ?? '') : JSON.stringify({ client_id, client_secret });
    return { auth: type, sealed: sealing.seal(secret, secretContext(scope, label)), sealed_by: sealing.id };
  }

  async #unseal({ tenant, label, sealed, sealed_by: by }: McpServerRow): Promise<string> {
    const sealing = await this.#options.sealingKey();
    if (sealed !== null && sealing.id === by) return sealing.unseal(sealed, secretContext({ tenant }, label));
    throw edgeError('mcp_server_failed', `The credential for ${label} was given to another node: give it to this one as well.`);
  }

  async #forget(scope: TenantScope, label: string): Promise<void> {
    const prefix = `${scope.tenant} ${label}`;
    this.#failures.delete(prefix);
    await this.#connections.forget((key) => key === prefix || key.startsWith(`${prefix} `));
  }
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

function keyOf({ tenant, label }: Pick<McpServerRow, 'tenant' | 'label'>): string {
  return `${tenant} ${label}`;
}

/** Only what no person's credential is used for is shared. */
function connectionKey(row: McpServerRow, caller: Principal): string {
  return row.auth === 'oauth' ? `${keyOf(row)} ${ownerKey(caller)}` : keyOf(row);
}

function secretContext({ tenant }: { tenant: string }, label: string): string {
  return `credential for the MCP server ${label} of ${tenant}`;
}

function serverNotFound(label: string): DomainError {
  return edgeError('mcp_server_not_found', `There is no MCP server ${label.slice(0, 64)}.`);
}
