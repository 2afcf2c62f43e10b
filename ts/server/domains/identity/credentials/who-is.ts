/** What `whoami` says of a caller. */
import type { Static } from 'typebox';
import type { Principal } from '../../../platform/http/principal.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import type { UserStore } from '../accounts/user-store.ts';
import { accountBody, timeOf, type Whoami } from '../schemas.ts';
import type { KeyStore } from './key-store.ts';
import type { SessionStore } from './session-store.ts';

const KINDS = { anonymous: 'anonymous', key: 'api_key', session: 'user', token: 'capability', node: 'capability' } as const;

export interface WhoIsDeps {
  users: UserStore;
  keys: KeyStore;
  sessions: SessionStore;
}

export class WhoIs {
  readonly #deps: WhoIsDeps;

  constructor(deps: WhoIsDeps) {
    this.#deps = deps;
  }

  async describe(caller: Principal): Promise<Static<typeof Whoami>> {
    const { tenant, subject, kind, roles, scopes, keyId } = caller;
    const user = subject === undefined ? undefined : await this.#deps.users.find(tenantScope(tenant), subject);
    const expiresAt = await this.#expiresAt(caller);
    return {
      ...{ kind: KINDS[kind], user: user === undefined ? null : accountBody(user), tenant, role: roles[0] ?? null },
      ...{ scopes: [...scopes], key_id: keyId ?? null, expires_at: expiresAt === undefined ? null : timeOf(expiresAt) },
    };
  }

  async #expiresAt({ tenant, kind, keyId = '' }: Principal): Promise<number | undefined> {
    const scope = tenantScope(tenant);
    if (kind === 'session') return (await this.#deps.sessions.find(scope, keyId))?.expires_at;
    if (kind === 'key') return (await this.#deps.keys.find(scope, keyId))?.expires_at ?? undefined;
    return undefined;
  }
}
