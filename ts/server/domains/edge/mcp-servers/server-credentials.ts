/** The credentials for MCP servers of others: none, a sealed token for all, or what each person was granted there. */
import type { AuthProvider, OAuthClientProvider, StoredOAuthClientInformation } from '@modelcontextprotocol/client';
import type { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { ownerKey } from '../approvals/approvals.ts';
import { edgeError } from '../errors.ts';
import type { McpServerRow } from '../tables.ts';
import { SIGN_IN_NEEDED } from './listed-tools.ts';
import { OAuthPerson } from './oauth-sign-in.ts';
import type { McpServerStore } from './server-store.ts';

export interface McpAuth {
  readonly type: 'none' | 'bearer' | 'oauth';
  readonly token?: string | undefined;
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
}

interface ServerCredentialsOptions {
  readonly store: McpServerStore;
  readonly publicUrl: string;
  sealingKey(): Promise<SealingKey>;
  now(): number;
}

export class ServerCredentials {
  readonly #options: ServerCredentialsOptions;

  constructor(options: ServerCredentialsOptions) {
    this.#options = options;
  }

  /** Makes the columns of a row. Throws `invalid_request` where the token is missing. */
  async seal(
    scope: TenantScope,
    label: string,
    { type, token, client_id, client_secret }: McpAuth,
  ): Promise<Pick<McpServerRow, 'auth' | 'sealed' | 'sealed_by'>> {
    if (type === 'bearer' && token === undefined)
      throw edgeError('invalid_request', 'auth.token is missing.', { param: 'auth.token' });
    if (type === 'none' || (type === 'oauth' && client_id === undefined)) return { auth: type, sealed: null, sealed_by: null };
    const sealing = await this.#options.sealingKey();
    const secret = type === 'bearer' ? (token ?? '') : JSON.stringify({ client_id, client_secret });
    return { auth: type, sealed: sealing.seal(secret, contextOf(scope, label)), sealed_by: sealing.id };
  }

  /** Throws `mcp_sign_in_needed`. */
  async providerOf(row: McpServerRow, caller: Principal): Promise<AuthProvider | OAuthClientProvider | undefined> {
    if (row.auth === 'none') return undefined;
    if (row.auth === 'bearer') {
      const token = await this.#unseal(row);
      return { token: async () => token };
    }
    const person = await this.personOf(row, caller);
    if (!person.isSignedIn) throw edgeError('mcp_sign_in_needed', `${row.label}: ${SIGN_IN_NEEDED}`);
    return person;
  }

  async personOf(row: McpServerRow, caller: Principal): Promise<OAuthPerson> {
    const { store, sealingKey, now, publicUrl } = this.#options;
    if (row.auth !== 'oauth') throw edgeError('invalid_request', `${row.label} asks nobody to sign in.`, { param: 'label' });
    if (publicUrl === '')
      throw edgeError('mcp_sign_in_failed', 'edge.public_url is empty, so no provider can send a browser back here.');
    const registered = row.sealed === null ? undefined : (JSON.parse(await this.#unseal(row)) as StoredOAuthClientInformation);
    const owner = ownerKey(caller);
    return await OAuthPerson.open({
      scope: scopeOf(caller),
      label: row.label,
      owner,
      store,
      publicUrl,
      registered,
      sealingKey,
      now,
    });
  }

  /** Whether a call of the caller needs no sign-in first. */
  async isSignedIn({ auth, label }: McpServerRow, caller: Principal): Promise<boolean> {
    return auth !== 'oauth' || (await this.#options.store.findToken(scopeOf(caller), label, ownerKey(caller))) !== undefined;
  }

  async #unseal({ tenant, label, sealed, sealed_by: by }: McpServerRow): Promise<string> {
    const sealing = await this.#options.sealingKey();
    if (sealed !== null && sealing.id === by) return sealing.unseal(sealed, contextOf({ tenant }, label));
    throw edgeError('mcp_server_failed', `The credential for ${label} was given to another node: give it to this one as well.`);
  }
}

function contextOf({ tenant }: { tenant: string }, label: string): string {
  return `credential for the MCP server ${label} of ${tenant}`;
}
