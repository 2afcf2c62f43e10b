/** A person at an MCP server that asks for OAuth 2.1: client, verifier and tokens, sealed by the node that the person signed in at. */
import { randomBytes } from 'node:crypto';
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { edgeError } from '../errors.ts';
import type { McpServerStore } from './server-store.ts';

interface OAuthState {
  client?: StoredOAuthClientInformation;
  tokens?: StoredOAuthTokens;
  verifier?: string;
  discovery?: OAuthDiscoveryState;
  /** The sign-in that is under way: its state is what the browser brings back. */
  state?: string;
  pending?: { readonly url: string; readonly at: number };
}

interface OAuthPersonOptions {
  readonly scope: TenantScope;
  readonly label: string;
  readonly owner: string;
  readonly store: McpServerStore;
  /** The address of this node, to which the provider sends the browser back. */
  readonly publicUrl: string;
  /** The client that an administrator registered at the provider; undefined: the client registers itself. */
  readonly registered: StoredOAuthClientInformation | undefined;
  sealingKey(): Promise<SealingKey>;
  now(): number;
}

const PENDING_MS = 10 * 60 * 1000;

export class OAuthPerson implements OAuthClientProvider {
  readonly #options: OAuthPersonOptions;
  #state: OAuthState | undefined;
  /** The provider has sent the person back, and the code is for the one that was asked. */
  #isReturning = false;

  private constructor(options: OAuthPersonOptions, state: OAuthState) {
    this.#options = options;
    this.#state = state;
  }

  static async open(options: OAuthPersonOptions): Promise<OAuthPerson> {
    const { scope, label, owner, store, sealingKey } = options;
    const row = await store.findToken(scope, label, owner);
    const sealing = await sealingKey();
    // Sealed by another node: the person signs in here as well.
    if (row === undefined || row.sealed_by !== sealing.id) return new OAuthPerson(options, {});
    return new OAuthPerson(options, JSON.parse(sealing.unseal(row.sealed, contextOf(options))) as OAuthState);
  }

  get isSignedIn(): boolean {
    return this.#state?.tokens !== undefined;
  }

  get redirectUrl(): string {
    return redirectUrlOf(this.#options.publicUrl, this.#options.label);
  }

  get clientMetadata(): OAuthClientMetadata {
    return clientMetadataOf(this.#options.publicUrl, this.#options.label);
  }

  /** The address at which a provider that asks for it reads who the client is. */
  get clientMetadataUrl(): string {
    const { publicUrl, label } = this.#options;
    return publicUrl.startsWith('https:') ? clientIdOf(publicUrl, label) : '';
  }

  async state(): Promise<string> {
    const state = randomBytes(32).toString('base64url');
    await this.#save({ state });
    return state;
  }

  /** The state that the browser brings must belong to the sign-in that this person began last. It serves once. */
  async takeState(given: string): Promise<void> {
    const expected = this.#state?.state;
    await this.#save({ state: undefined, pending: undefined });
    this.#isReturning = expected !== undefined && given === expected;
    if (this.#isReturning) return;
    throw edgeError('mcp_sign_in_failed', 'The answer belongs to no sign-in that you began here. Start again.');
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#options.registered ?? this.#state?.client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    return this.#save({ client });
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#state?.tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    return this.#save({ tokens });
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    await this.#save({ pending: { url: url.href, at: this.#options.now() } });
  }

  /** The address of a sign-in that was begun, also by a call that needs more than was granted. */
  pendingUrl(): URL | undefined {
    const { pending } = this.#state ?? {};
    return pending !== undefined && pending.at + PENDING_MS > this.#options.now() ? new URL(pending.url) : undefined;
  }

  saveCodeVerifier(verifier: string): Promise<void> {
    return this.#save({ verifier });
  }

  codeVerifier(): string {
    return this.#state?.verifier ?? '';
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    return this.#save({ discovery });
  }

  /** Looked for again but on the way back: the server may trust another provider by now. */
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#isReturning ? this.#state?.discovery : undefined;
  }

  async invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    const everything = { client: undefined, tokens: undefined, verifier: undefined, discovery: undefined };
    await this.#save(what === 'all' ? everything : { [what]: undefined });
  }

  async #save(changes: { [K in keyof OAuthState]: OAuthState[K] | undefined }): Promise<void> {
    const { scope, label, owner, store, sealingKey, now } = this.#options;
    this.#state = { ...this.#state, ...changes } as OAuthState;
    const sealing = await sealingKey();
    const sealed = sealing.seal(JSON.stringify(this.#state), contextOf(this.#options));
    await store.saveToken(scope, { tenant: scope.tenant, label, owner, sealed, sealed_by: sealing.id, updated_at: now() });
  }
}

export function clientIdOf(publicUrl: string, label: string): string {
  return `${publicUrl}/api/v1/tools/mcp-servers/${label}/oauth/client`;
}

/** The members are named for the reference; the library takes them as its own. */
export function clientMetadataOf(publicUrl: string, label: string) {
  return {
    client_name: 'svc',
    redirect_uris: [redirectUrlOf(publicUrl, label)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

function redirectUrlOf(publicUrl: string, label: string): string {
  return `${publicUrl}/api/v1/tools/mcp-servers/${label}/oauth/callback`;
}

function contextOf({ scope, label, owner }: Pick<OAuthPersonOptions, 'scope' | 'label' | 'owner'>): string {
  return `MCP server ${label} of ${scope.tenant} for ${owner}`;
}
