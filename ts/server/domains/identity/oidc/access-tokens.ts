/** Access tokens of the sign-in provider, which `/mcp` takes as a protected resource of it (RFC 9728, RFC 8707). */
import type { Principal } from '../../../platform/http/principal.ts';
import { limitScopes } from '../accounts/scopes.ts';
import type { RefusalReason } from '../credentials/refused-credential.ts';
import type { LinkStore } from './link-store.ts';
import type { Provider } from './provider.ts';

/** The node as a resource of the provider. */
export interface ProtectedResource {
  /** The address of `/mcp`: a token must be for it. */
  readonly audience: string;
  readonly issuer: string;
  readonly metadataUrl: string;
}

interface AccessTokensDeps {
  readonly provider: Provider;
  readonly links: LinkStore;
  readonly resource: ProtectedResource;
}

/** A program that a person sent decides about no approval, and makes no credential. */
const SCOPES = ['tools:use', 'knowledge:read'];
const PATH = '/mcp';
const MAX_LENGTH = 8_192;

export class AccessTokens {
  readonly #deps: AccessTokensDeps;

  constructor(deps: AccessTokensDeps) {
    this.#deps = deps;
  }

  /** Whether the text may be one: three parts (RFC 7519), where they are taken. */
  mayBe(text: string, path: string): boolean {
    return path === PATH && text.length <= MAX_LENGTH && /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(text);
  }

  /** The person must have signed in here before: the account that is linked is the caller, with the role that it has now. */
  async resolve(token: string): Promise<Principal | RefusalReason> {
    const { provider, links, resource } = this.#deps;
    const proven = await provider.verifyAccessToken(token, resource.audience);
    if (typeof proven === 'string') return proven;
    const user = await links.find(proven.issuer, proven.subject);
    if (user === undefined) return 'unknown_key';
    if (user.disabled === 1) return 'api_key_revoked';
    return {
      tenant: user.tenant,
      subject: user.id,
      kind: 'token',
      roles: [user.role],
      scopes: limitScopes(user.role, SCOPES),
      keyId: undefined,
      expiresAt: proven.expiresAt,
    };
  }
}
