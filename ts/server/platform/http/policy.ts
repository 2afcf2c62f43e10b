/** Says what a caller must be for a route to answer: a table of policies, which routes name, and the one function that applies it. */
import { isFromThisMachine } from './access/this-machine.ts';
import type { AuthenticationState, CredentialSource } from './authenticator.ts';
import { HttpError } from './errors.ts';
import type { ListenerName } from './listen/listener-name.ts';
import { hasRole, hasScope, type Principal, type Role } from './principal.ts';

export interface Policy {
  /** Listeners on which no credential is needed, whatever the state of authentication. */
  anonymousOn: readonly ListenerName[];
  /** The least role of a caller with a credential; undefined: any. */
  leastRole: Role | undefined;
  /** The scope that a credential needs for a route that names no scope of its own; undefined: none. */
  scope: string | undefined;
  /** The sentence that the reference shows. */
  meaning: string;
}

export const POLICIES = {
  open: { anonymousOn: ['internal', 'public'], leastRole: undefined, scope: undefined, meaning: 'Open to everyone.' },
  local: {
    anonymousOn: ['internal'],
    leastRole: undefined,
    scope: undefined,
    meaning: 'Open on the internal listener; the public edge asks for a login.',
  },
  viewer: {
    anonymousOn: [],
    leastRole: 'viewer',
    scope: undefined,
    meaning: 'Needs a key or a session once the node has accounts.',
  },
  developer: {
    anonymousOn: [],
    leastRole: 'developer',
    scope: undefined,
    meaning: 'Needs the role developer once the node has accounts.',
  },
  admin: {
    anonymousOn: [],
    leastRole: 'admin',
    scope: 'admin',
    meaning: 'Needs an administrator; while the node has no accounts, it is answered on the machine itself only.',
  },
  superadmin: {
    anonymousOn: [],
    leastRole: 'superadmin',
    scope: 'admin',
    meaning: 'Needs a superadmin; while the node has no accounts, it is answered on the machine itself only.',
  },
} as const satisfies Record<string, Policy>;

export type PolicyName = keyof typeof POLICIES;

/** The policy of paths that no route claims: any credential, so that an answer does not tell strangers which paths exist. */
export const ANY_CREDENTIAL: Policy = {
  anonymousOn: [],
  leastRole: undefined,
  scope: undefined,
  meaning: 'Needs a key or a session.',
};

const ADMINISTRATIVE: ReadonlySet<Role | undefined> = new Set<Role | undefined>(['admin', 'superadmin']);

export function isAdministrative({ leastRole }: Policy): boolean {
  return ADMINISTRATIVE.has(leastRole);
}

/**
 * Throws HttpError 401 or 403 unless the policy admits the caller. While authentication is off, the internal listener asks for no
 * credential, except that an administrative route must then be called from the machine itself, or with a credential that has the role.
 */
export function requireAllowed(
  policy: Policy,
  scope: string | undefined,
  principal: Principal,
  source: CredentialSource,
  state: AuthenticationState,
): void {
  if (policy.anonymousOn.includes(source.listener)) return;
  const isUnguarded = state === 'off' && source.listener === 'internal';
  if (isUnguarded && (!isAdministrative(policy) || isFromThisMachine(source))) return;
  if (principal.kind === 'anonymous') throw isUnguarded ? machineNeeded() : credentialNeeded();
  if (policy.leastRole !== undefined && !hasRole(principal, policy.leastRole)) throw roleNeeded(policy.leastRole);
  const needed = scope ?? policy.scope;
  if (needed !== undefined && !hasScope(principal, needed)) throw scopeNeeded(needed);
}

function credentialNeeded(): HttpError {
  const detail = 'No credential arrived. Send an API key in X-API-Key or Authorization: Bearer, or sign in.';
  return new HttpError(401, 'authentication_required', detail);
}

function machineNeeded(): HttpError {
  const detail =
    'While this node has no accounts, administrative requests are answered on the machine itself only, without a proxy between. ' +
    'Send the request there, or create the first account and use its key.';
  return new HttpError(401, 'authentication_required', detail);
}

function roleNeeded(role: Role): HttpError {
  return new HttpError(403, 'forbidden', `This needs the role ${role}: ask an administrator, or use a key that has the role.`, {
    extra: { role },
  });
}

function scopeNeeded(scope: string): HttpError {
  const detail = `The credential lacks the scope ${scope}: use one that has it. GET /api/v1/auth/whoami lists the scopes of a key.`;
  return new HttpError(403, 'insufficient_scope', detail, { extra: { scope } });
}
