/** What `whoami` says of a caller. */
import type { Static } from 'typebox';
import type { Principal } from '../../../platform/http/principal.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import type { UserStore } from '../accounts/user-store.ts';
import { accountBody, timeOf, type whoamiSchema } from '../schemas.ts';

const KINDS = {
  anonymous: 'anonymous',
  key: 'api_key',
  session: 'user',
  capability: 'capability',
  token: 'capability',
  node: 'capability',
} as const satisfies Record<Principal['kind'], string>;

export class CallerLookup {
  readonly #users: UserStore;

  constructor(users: UserStore) {
    this.#users = users;
  }

  async describe({ kind, roles, keyId, expiresAt, ...caller }: Principal): Promise<Static<ReturnType<typeof whoamiSchema>>> {
    const { tenant, subject, scopes, limits } = caller;
    const user = subject === undefined ? undefined : await this.#users.find(tenantScope(tenant), subject);
    return {
      kind: KINDS[kind],
      user: user === undefined ? null : accountBody(user),
      tenant,
      role: roles[0] ?? null,
      scopes: [...scopes],
      key_id: keyId ?? null,
      expires_at: expiresAt === undefined ? null : timeOf(expiresAt),
      ...Object.fromEntries(Object.entries(limits ?? {}).map(([kind, names]) => [kind, [...names]])),
    };
  }
}
