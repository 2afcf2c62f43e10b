/** The one function that resolves every kind of credential to a principal. */
import type { AuthenticationState, Authenticator, CredentialSource } from '../../platform/http/authenticator.ts';
import { ANONYMOUS, type Principal } from '../../platform/http/principal.ts';
import type { Log } from '../../platform/log/log.ts';
import { systemScope } from '../../platform/storage/index.ts';
import { scopesOfRole } from './accounts/scopes.ts';
import { MAX_TOKEN_LENGTH } from './capabilities/capability-limits.ts';
import type { CapabilityResolver } from './capabilities/capability-resolver.ts';
import { CAPABILITY_PREFIX, readEnvelope } from './capabilities/envelope.ts';
import { API_KEY_PREFIX, isWholeApiKey } from './credentials/api-key.ts';
import type { CredentialCache } from './credentials/credential-cache.ts';
import type { CredentialStore } from './credentials/credential-store.ts';
import { LOCAL_ADMIN, type LocalToken } from './credentials/local-token.ts';
import { type RefusalReason, refusedCredential, uncheckedCredential } from './credentials/refused-credential.ts';
import { type Resolution, type ResolvedCredential, resolveKey, resolveSession } from './credentials/resolved-credential.ts';
import { SESSION_COOKIES } from './credentials/session-cookie.ts';
import { SETUP_CODE_HEADER, type SetupCode } from './credentials/setup-code.ts';
import { isEnforced } from './enforcement-fact.ts';
import type { AccessTokens } from './oidc/access-tokens.ts';
import { hashSecret, isWholeToken } from './secrets/secret-token.ts';
import type { IdentityStorage } from './tables.ts';

interface AuthenticatorDeps {
  store: CredentialStore;
  capabilities: CapabilityResolver;
  cache: CredentialCache;
  setupCode: SetupCode;
  localToken: LocalToken;
  sessionIdleMs: number;
  authentication: AuthenticationSwitch;
  /** Tokens of the sign-in provider; undefined: none are taken. */
  accessTokens: AccessTokens | undefined;
  /** Is told of each credential that was refused, for the audit log. */
  onRefusal(reason: RefusalReason, source: CredentialSource): void;
}

/** The holder of the set-up code, on a node without accounts. */
const SETUP_ADMIN: Principal = Object.freeze({
  tenant: 'default',
  subject: undefined,
  kind: 'token',
  roles: Object.freeze(['superadmin'] as const),
  scopes: scopesOfRole('superadmin'),
  keyId: 'setup-code',
});

type CredentialKind = ResolvedCredential['kind'];

export class IdentityAuthenticator implements Authenticator {
  readonly #deps: AuthenticatorDeps;
  /** Look-ups that are under way, by the version of the cache that they began with and the hash. */
  readonly #running = new Map<string, Promise<Resolution>>();

  constructor(deps: AuthenticatorDeps) {
    this.#deps = deps;
  }

  state(): AuthenticationState {
    return this.#deps.authentication.state;
  }

  /** Synchronous for a credential that is in the cache. */
  authenticate(source: CredentialSource): Principal | Promise<Principal> {
    if (this.#deps.authentication.state === 'off') return this.#withoutAccounts(source);
    const presented = presentedCredential(source.headers);
    if (presented === undefined) return ANONYMOUS;
    if (presented.from === 'bearer' && this.#deps.accessTokens?.mayBe(presented.text, source.path))
      return this.#ofProvider(presented.text, source);
    const kind = kindOf(presented);
    if (kind === 'local')
      return this.#deps.localToken.matches(presented.text, source) ? LOCAL_ADMIN : this.#refuse('expired', source);
    if (kind !== 'key' && kind !== 'session' && kind !== 'capability') return this.#notOfOurs(kind, presented, source);
    const hash = hashSecret(presented.text);
    const known = this.#deps.cache.find(hash, Date.now());
    return known?.principal ?? this.#lookUp(kind, hash, presented, source);
  }

  /** The machine's administrator, whether the node has accounts or not; undefined: the request does not show that token, or comes from elsewhere. */
  localAdmin(source: CredentialSource): Principal | undefined {
    const presented = presentedCredential(source.headers);
    if (presented?.from !== 'bearer') return undefined;
    return this.#deps.localToken.matches(presented.text, source) ? LOCAL_ADMIN : undefined;
  }

  /** Clients send keys of other services, or none, to a node that asks for none; only the code means something. */
  #withoutAccounts(source: CredentialSource): Principal {
    const code = source.headers.get(SETUP_CODE_HEADER);
    if (code === undefined) return ANONYMOUS;
    return this.#deps.setupCode.matches(code) ? SETUP_ADMIN : this.#refuse('unknown_key', source);
  }

  /** A browser sends an old cookie wherever it goes, also to the login page; a program's header is meant. */
  #notOfOurs(reason: RefusalReason, { from }: PresentedCredential, source: CredentialSource): Principal {
    return from === 'cookie' ? ANONYMOUS : this.#refuse(reason, source);
  }

  async #ofProvider(token: string, source: CredentialSource): Promise<Principal> {
    const resolved = await this.#deps.accessTokens?.resolve(token).catch((error: unknown) => {
      throw uncheckedCredential(error);
    });
    return typeof resolved === 'object' ? resolved : this.#refuse(resolved ?? 'bad_encoding', source);
  }

  async #lookUp(
    kind: CredentialKind,
    hash: string,
    presented: PresentedCredential,
    source: CredentialSource,
  ): Promise<Principal> {
    const version = this.#deps.cache.version;
    const resolution = await this.#resolveOnce(kind, hash, presented.text, version).catch((error: unknown) => {
      throw uncheckedCredential(error);
    });
    if (typeof resolution === 'string') return this.#notOfOurs(resolution, presented, source);
    // Something was revoked meanwhile, perhaps this: what was read may be from before.
    if (!this.#deps.cache.add(hash, resolution, version)) return this.#lookUp(kind, hash, presented, source);
    return resolution.principal;
  }

  /** Many requests may bring the same credential while it is looked up, as after a revocation those that are open. */
  #resolveOnce(kind: CredentialKind, hash: string, text: string, version: number): Promise<Resolution> {
    const key = `${version} ${hash}`;
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const resolving = this.#resolve(kind, hash, text).finally(() => this.#running.delete(key));
    this.#running.set(key, resolving);
    return resolving;
  }

  async #resolve(kind: CredentialKind, hash: string, text: string): Promise<Resolution> {
    const { store, capabilities, sessionIdleMs } = this.#deps;
    if (kind === 'capability') return capabilities.resolve(text);
    if (kind === 'key') return resolveKey(await store.findKey(hash), Date.now());
    return resolveSession(await store.findSession(hash), sessionIdleMs, Date.now());
  }

  #refuse(reason: RefusalReason, source: CredentialSource): never {
    this.#deps.onRefusal(reason, source);
    throw refusedCredential(reason, source.path);
  }
}

/** The kind of secret that the text is, or why it is none. */
function kindOf({ text, from }: PresentedCredential): CredentialKind | 'local' | RefusalReason {
  if (text.startsWith(API_KEY_PREFIX) && from !== 'cookie') return isWholeApiKey(text) ? 'key' : 'api_key_unknown';
  if (text.startsWith(CAPABILITY_PREFIX) && from !== 'cookie')
    return text.length > MAX_TOKEN_LENGTH ? 'bad_encoding' : 'capability';
  if (from === 'api-key') return 'api_key_unknown';
  if (isWholeToken('svcs_', text)) return 'session';
  if (isWholeToken('svcl_', text) && from === 'bearer') return 'local';
  // Biscuit's own libraries write a derived token without our prefix.
  return from === 'bearer' && readEnvelope(text) !== undefined ? 'capability' : 'bad_encoding';
}

/** The credential that a request brings. */
interface PresentedCredential {
  text: string;
  from: 'api-key' | 'bearer' | 'cookie';
}

const BEARER = 'bearer ';

/**
 * One credential decides, whatever else a request brings: X-API-Key, then Authorization, then the cookie. What a program put in a header is what it
 * means; a browser adds the cookie by itself. Other schemes of Authorization are not for this service.
 */
export function presentedCredential(headers: CredentialSource['headers']): PresentedCredential | undefined {
  const key = headers.get('x-api-key');
  if (key !== undefined) return { text: key, from: 'api-key' };
  const authorization = headers.get('authorization');
  if (authorization !== undefined && authorization.slice(0, BEARER.length).toLowerCase() === BEARER) {
    return { text: authorization.slice(BEARER.length).trim(), from: 'bearer' };
  }
  const cookies = headers.get('cookie');
  const session = cookies === undefined ? undefined : sessionOf(cookies);
  return session === undefined ? undefined : { text: session, from: 'cookie' };
}

/** The cookie that only this very host can set is read before the one that a neighbour on the host name could have set. */
function sessionOf(cookies: string): string | undefined {
  const pairs = cookies.split(';').map((pair) => pair.trim());
  for (const name of SESSION_COOKIES) {
    const pair = pairs.find((each) => each.startsWith(`${name}=`));
    if (pair !== undefined) return pair.slice(name.length + 1);
  }
  return undefined;
}

/** Whether the node asks for credentials: off until there is an account, then on for good. */
export class AuthenticationSwitch {
  readonly #storage: IdentityStorage;
  readonly #setupCode: SetupCode;
  readonly #log: Log;
  #state: AuthenticationState = 'off';

  constructor(storage: IdentityStorage, setupCode: SetupCode, log: Log) {
    this.#storage = storage;
    this.#setupCode = setupCode;
    this.#log = log;
  }

  get state(): AuthenticationState {
    return this.#state;
  }

  /** Reads the state, and shows the set-up code while there is no account. */
  async start(): Promise<void> {
    await this.refresh();
    if (this.#state === 'off') {
      const setup_code = this.#setupCode.issue();
      const message =
        'the node has no account: make the first one with `svc admin create`, or from another machine with the set-up code in X-Svc-Setup-Code';
      this.#log.warn(message, { setup_code });
    }
  }

  /** Another process on the same database may have made the first account. */
  async refresh(): Promise<void> {
    if (this.#state === 'enforce') return;
    if (await this.#storage.read(systemScope(), isEnforced)) this.enforce();
  }

  enforce(): void {
    if (this.#state === 'enforce') return;
    this.#state = 'enforce';
    this.#setupCode.withdraw();
    this.#log.info('authentication is on from now: every caller needs a key or a session');
  }
}
