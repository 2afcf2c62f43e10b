/**
 * Delegations: what a caller lets the node do later in its name. A delegation is kept, and never a principal: whoever acts by one asks for the
 * principal as it is then, so that a lowered role, a disabled account or a revoked credential holds from the next step on.
 */
import { ANONYMOUS, type Principal } from '../../platform/http/principal.ts';
import { tenantScope } from '../../platform/storage/index.ts';
import { limitScopes } from './accounts/scopes.ts';
import type { UserStore } from './accounts/user-store.ts';
import type { CapabilityStore } from './capabilities/capability-store.ts';
import { intersect } from './capabilities/restrictions.ts';
import type { KeyStore } from './credentials/key-store.ts';
import { identityErrors } from './errors.ts';
import type { UserRow } from './tables.ts';

/** JSON, for the row of what is done later. */
export interface Delegation {
  readonly tenant: string;
  /** The account; undefined: the node had none. */
  readonly user?: string | undefined;
  readonly kind: 'anonymous' | 'session' | 'key' | 'capability';
  /** The id of the key or token, without which it ends. */
  readonly keyId?: string | undefined;
  /** The ids of a token and those that it was derived from. */
  readonly revocationIds?: readonly string[] | undefined;
  readonly scopes: readonly string[];
  readonly limits?: Principal['limits'] | undefined;
  readonly expiresAt?: number | undefined;
}

interface DelegationsDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly keys: Pick<KeyStore, 'find'>;
  readonly capabilities: Pick<CapabilityStore, 'findState'>;
  /** Whether the node asks for credentials. */
  isEnforced(): boolean;
  now(): number;
}

export class Delegations {
  readonly #deps: DelegationsDeps;

  constructor(deps: DelegationsDeps) {
    this.#deps = deps;
  }

  /** @param limits by the kind of things, the only names that it may use beside the caller's own limits. Throws `forbidden` for a caller without an account. */
  of(caller: Principal, limits: NonNullable<Principal['limits']> = {}): Delegation {
    const { tenant, subject: user, kind, keyId, revocationIds, expiresAt } = caller;
    const narrowed = intersect({ scopes: caller.scopes, uses: caller.limits }, { uses: limits });
    const about = { tenant, scopes: narrowed.scopes ?? [], limits: limitsOf(narrowed.uses) };
    if (kind === 'anonymous') return { ...about, kind };
    if (user === undefined || kind === 'token' || kind === 'node')
      throw identityErrors.error(
        'forbidden',
        'What the node does later is done for an account: use a key, a token or a session of one.',
      );
    if (kind === 'session') return { ...about, kind, user };
    return { ...about, kind, user, keyId, revocationIds, expiresAt };
  }

  /** The principal as it is now; undefined: there is none any more. */
  async principalOf(delegation: Delegation): Promise<Principal | undefined> {
    const { tenant, user: userId, kind, limits, expiresAt } = delegation;
    const ofAll = { tenant, ...(limits !== undefined && { limits }) };
    if (kind === 'anonymous') return this.#deps.isEnforced() ? undefined : { ...ANONYMOUS, ...ofAll };
    if (userId === undefined || (expiresAt !== undefined && expiresAt <= this.#deps.now())) return undefined;
    const user = await this.#deps.users.find(tenantScope(tenant), userId);
    if (user === undefined || user.disabled === 1) return undefined;
    const scopes = await this.#scopesOf(delegation, user);
    if (scopes === undefined) return undefined;
    const about = { ...ofAll, subject: userId, kind, roles: [user.role], scopes, keyId: delegation.keyId };
    return { ...about, ...(expiresAt !== undefined && { expiresAt }) };
  }

  /** Undefined: the credential is over. */
  async #scopesOf(delegation: Delegation, { role }: UserRow): Promise<readonly string[] | undefined> {
    const { tenant, user = '', kind, keyId = '', revocationIds = [], scopes } = delegation;
    const scope = tenantScope(tenant);
    const now = this.#deps.now();
    const allowed = limitScopes(role, scopes);
    if (kind === 'capability') {
      const { rows } = await this.#deps.capabilities.findState(scope, user, [...revocationIds]);
      return rows.some(({ revoked_at }) => revoked_at !== null) ? undefined : allowed;
    }
    if (kind !== 'key') return allowed;
    const key = await this.#deps.keys.find(scope, keyId);
    const isOver = key === undefined || key.revoked_at !== null || (key.expires_at ?? Number.POSITIVE_INFINITY) <= now;
    if (isOver) return undefined;
    const ofKey = key.scopes === null ? undefined : (JSON.parse(key.scopes) as string[]);
    return ofKey === undefined ? allowed : allowed.filter((each) => ofKey.includes(each));
  }
}

function limitsOf(uses: Readonly<Record<string, readonly string[] | undefined>> | undefined): Principal['limits'] {
  const limited = Object.entries(uses ?? {}).flatMap(([kind, names]) => (names === undefined ? [] : [[kind, names] as const]));
  return limited.length === 0 ? undefined : Object.fromEntries(limited);
}
