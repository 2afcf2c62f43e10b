/** Signing in at an OpenID Connect provider, and linking an account that is there. */
import { randomBytes } from 'node:crypto';
import type { Log } from '../../../platform/log/log.ts';
import { ownAccount } from '../accounts/access-check.ts';
import type { AttemptLimit } from '../accounts/attempt-limit.ts';
import type { Session, SignIn, SignInClient } from '../accounts/sign-in.ts';
import type { Tenants } from '../accounts/tenants.ts';
import { type AuditSource, actorOf, auditEntry } from '../audit/audit-entry.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import { type IdentityError, identityError, translateUniqueViolation } from '../errors.ts';
import type { LinkRow, UserRow } from '../tables.ts';
import type { AccessRule, LinkStore, SignedIn } from './link-store.ts';
import type { OidcConfig } from './oidc-config.ts';
import { isDomainAllowed, type Person, personOf } from './person.ts';
import type { Provider } from './provider.ts';
import { returnPath } from './return-path.ts';
import { FLOW_VALID_MS, FlowSeal, type SignInFlow } from './sign-in-flow.ts';

interface OidcSignInDeps {
  config: OidcConfig;
  provider: Provider;
  store: LinkStore;
  signIn: SignIn;
  tenants: Tenants;
  attempts: AttemptLimit;
  audit: AuditLog;
  log: Log;
  /** Roles or groups of an account changed. */
  onCredentialsChanged(change: CredentialChange): void;
}

export interface Departure {
  /** Where the browser goes. */
  url: URL;
  /** For the browser's cookie. */
  sealed: string;
}

interface Arrival {
  returnTo: string;
  /** Undefined: an account was linked, and its session goes on. */
  session: Session | undefined;
}

const DEFAULT_RETURN = '/chat';

export class OidcSignIn {
  readonly #deps: OidcSignInDeps;
  readonly #provider: Provider;
  readonly #seal: FlowSeal;

  constructor(deps: OidcSignInDeps) {
    this.#deps = deps;
    this.#provider = deps.provider;
    this.#seal = new FlowSeal(deps.config.clientSecret);
  }

  get label(): string {
    return this.#deps.config.label;
  }

  /** Sends somebody to the provider. With `linkUserId` the account is linked when they come back. */
  async depart(returnTo: string | undefined, linkUserId: string | undefined): Promise<Departure> {
    const path = returnPath(returnTo ?? DEFAULT_RETURN);
    if (path === undefined) {
      throw identityError('invalid_return_to', 'return_to must be a path of this server, like /chat.', { param: 'return_to' });
    }
    const flow: SignInFlow = {
      state: randomText(),
      nonce: randomText(),
      verifier: randomText(),
      returnTo: path,
      linkUserId,
      expiresAt: Date.now() + FLOW_VALID_MS,
    };
    const url = await this.#provider.authorizationUrl(flow).catch((error: unknown) => this.#told(error));
    return { url, sealed: this.#seal.seal(flow) };
  }

  /** Somebody comes back. `query` is what the provider put behind the address. */
  async arrive(query: string, sealed: string | undefined, { source, userAgent, devices }: SignInClient): Promise<Arrival> {
    const flow = this.#flowOf(query, sealed);
    // Each try asks the provider. Browsers that one account is known in share a window, however many they are.
    const [device] = devices;
    const account = device === undefined ? `oidc ${flow.state}` : 'oidc';
    const counted = this.#deps.attempts.countClient({ account, remoteAddress: source.remoteAddress, device: device?.userId });
    const proven = await this.#provider.exchange(query, flow).catch((error: unknown) => this.#told(error));
    counted.succeeded();
    const { config } = this.#deps;
    const person = personOf(proven.claims, proven.issuer, proven.subject, config);
    if (!isDomainAllowed(person, config.allowedDomains)) throw this.#notAuthorized('domain_not_allowed', source);
    if (person.areGroupsMissing) throw this.#notAuthorized('groups_missing', source);
    if (flow.linkUserId !== undefined) {
      await this.#link(flow.linkUserId, person, source);
      return { returnTo: flow.returnTo, session: undefined };
    }
    const { user } = await this.#account(person, source);
    if (user.disabled === 1) throw identityError('account_disabled', 'An administrator disabled this account.');
    return { returnTo: flow.returnTo, session: await this.#deps.signIn.open(user, source, userAgent) };
  }

  /** Links of the caller's account. */
  links(source: AuditSource): Promise<LinkRow[]> {
    const { scope, userId } = ownAccount(source.caller);
    return this.#deps.store.list(scope, userId);
  }

  async unlink(source: AuditSource): Promise<void> {
    const { scope, userId } = ownAccount(source.caller);
    const entry = auditEntry(source, { action: 'user.unlink', actor: actorOf(source.caller), target: userId });
    const nRemoved = await this.#deps.store.unlink(scope, userId, entry);
    if (nRemoved === 0) throw identityError('link_not_found', 'The owner of the account has linked it to no sign-in provider.');
  }

  /** What the browser brings must belong together: another site can send it here with a state of its own. */
  #flowOf(query: string, sealed: string | undefined): SignInFlow {
    const flow = sealed === undefined ? undefined : this.#seal.open(sealed, Date.now());
    if (flow === undefined) {
      const detail = 'This browser has not begun a sign-in here, or too long ago. Start again.';
      throw identityError('oidc_sign_in_failed', detail, { extra: { reason: 'no_flow' } });
    }
    const states = new URLSearchParams(query).getAll('state');
    if (states.length === 1 && states[0] === flow.state) return flow;
    const detail = 'The answer belongs to another sign-in than the one that this browser began last. Start again.';
    throw identityError('oidc_sign_in_failed', detail, { extra: { reason: 'wrong_state' } });
  }

  async #account(person: Person, source: AuditSource): Promise<SignedIn> {
    const actions = { made: 'user.register', linked: 'user.link', changed: 'user.update' } as const;
    const entryOf = (user: UserRow, what: keyof typeof actions) => {
      const detail = { by: 'oidc', issuer: person.issuer, username: user.username, role: user.role };
      const said = { tenant: user.tenant, actor: `user:${user.id}`, target: user.id };
      return auditEntry(source, { ...said, action: actions[what], detail });
    };
    const taken = identityError('name_taken', 'Another account was made with this name just now. Start again.');
    const signedIn = await this.#deps.store
      .signIn(person, await this.#rule(person, source), entryOf)
      .catch((error: unknown) => translateUniqueViolation(error, taken));
    if (signedIn === undefined) throw this.#notAuthorized('no_first_account', source);
    const { tenant, id } = signedIn.user;
    this.#deps.onCredentialsChanged({ tenant, user: id, requestId: source.requestId });
    return signedIn;
  }

  async #rule(person: Person, source: AuditSource): Promise<AccessRule> {
    const { config, tenants } = this.#deps;
    const access = config.access.ofNew(person.groups);
    const hasTenant = access !== undefined && (await tenants.exists(access.tenant));
    return {
      ofNew: () => {
        if (access === undefined) throw this.#notAuthorized('no_group', source);
        if (!hasTenant) throw this.#notAuthorized('no_tenant', source);
        return access;
      },
      roleOf: ({ tenant }, isManaged) => {
        if (!isManaged) return undefined;
        const role = config.access.roleIn(tenant, person.groups);
        if (role === undefined) throw this.#notAuthorized('no_group', source);
        return role;
      },
    };
  }

  /** The session must still be that of the account which asked: somebody else may have signed in meanwhile. */
  async #link(userId: string, person: Person, source: AuditSource): Promise<void> {
    const { scope, userId: callerId } = ownAccount(source.caller);
    const entry = auditEntry(source, { action: 'user.link', actor: actorOf(source.caller), target: userId });
    const isLinked =
      callerId === userId &&
      (await this.#deps.store.link(scope, userId, person, { ...entry, detail: { issuer: person.issuer } }));
    if (!isLinked) throw this.#notAuthorized('already_linked', source);
  }

  #notAuthorized(reason: keyof typeof NOT_AUTHORIZED, source: AuditSource): IdentityError {
    this.#deps.audit.add(auditEntry(source, { action: 'session.create', outcome: 'denied', detail: { by: 'oidc', reason } }));
    return identityError('oidc_not_authorized', NOT_AUTHORIZED[reason], { extra: { reason } });
  }

  /** What is wrong with the provider, the operator has to know. Its texts stay out of the log: they may hold tokens. */
  #told(thrown: unknown): never {
    const error = thrown as IdentityError;
    if (error.code === 'oidc_provider_failed' || error.code === 'oidc_provider_unreachable') {
      const cause = error.cause as { name?: unknown; code?: unknown } | undefined;
      const fault = { code: error.code, reason: error.extra['reason'], cause: String(cause?.code ?? cause?.name ?? '') };
      this.#deps.log.warn('the sign-in provider cannot be used', fault);
    }
    throw error;
  }
}

const NOT_AUTHORIZED = {
  domain_not_allowed: 'Only people with a verified e-mail address of certain domains may sign in here.',
  groups_missing:
    'The provider does not say which groups the person is in, since there are too many. Let it send those of this application only.',
  no_group: 'The person is in no group that may sign in here; ask an administrator.',
  no_tenant: 'The tenant that the groups of the person lead to does not exist here; ask an administrator.',
  no_first_account: 'The first account of the installation is made here, and not at the sign-in provider.',
  already_linked: 'The person at the provider is linked to an account already, or another account is signed in now.',
} as const;

function randomText(): string {
  return randomBytes(32).toString('base64url');
}
