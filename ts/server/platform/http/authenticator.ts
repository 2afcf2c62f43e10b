/** Who may call: the port that resolves credentials, and the policy that routes declare. */
import { HttpError } from './errors.ts';
import type { AuthPolicy, Caller } from './route.ts';

/** What credentials are read from. */
export interface CredentialSource {
  headers: ReadonlyMap<string, string>;
  path: string;
  remoteAddress: string;
  listener: 'internal' | 'public';
}

export interface Authenticator {
  /** `off` while the node has no account and belongs to no cluster. */
  state(): 'off' | 'enforce';
  /** Without credentials: the anonymous caller. Throws HttpError 401 for refused credentials, 503 when they cannot be checked. */
  authenticate(source: CredentialSource): Caller | Promise<Caller>;
}

export const ANONYMOUS: Caller = Object.freeze({ tenant: 'default', user: undefined, roles: Object.freeze([]) });

/** A node without accounts: everyone is the same anonymous caller. */
export const NO_ACCOUNTS: Authenticator = { state: () => 'off', authenticate: () => ANONYMOUS };

const ADMIN_ROLES = new Set(['admin', 'superadmin']);

/** Throws unless the caller may use a route of this policy. The public listener asks for a login whatever the state. */
export function requireAllowed(
  policy: AuthPolicy,
  caller: Caller,
  listener: 'internal' | 'public',
  state: 'off' | 'enforce',
): void {
  const isBound = state === 'enforce' || listener === 'public';
  if (policy === 'open' || (policy === 'local' && listener === 'internal') || !isBound) return;
  if (caller.user === undefined) throw credentialsNeeded();
  if (policy === 'admin' && !caller.roles.some((role) => ADMIN_ROLES.has(role.toLowerCase()))) {
    throw new HttpError(403, 'forbidden', 'This needs an administrator: ask one, or use a key that has the role.');
  }
}

function credentialsNeeded(): HttpError {
  const detail = 'No credential arrived. Send an API key in X-API-Key or Authorization: Bearer, or sign in.';
  return new HttpError(401, 'authentication_required', detail, { headers: { 'www-authenticate': 'Bearer' } });
}
