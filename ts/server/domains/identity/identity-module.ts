/** Wires the identity module. */
import type { AccessRecorder } from '../../platform/http/access-recorder.ts';
import type { Authenticator } from '../../platform/http/authenticator.ts';
import { ANONYMOUS } from '../../platform/http/principal.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import type { TenantRules } from '../../platform/module/tenant-rules.ts';
import { AttemptLimit } from './accounts/attempt-limit.ts';
import { PasswordHasher } from './accounts/password-hasher.ts';
import { SignIn } from './accounts/sign-in.ts';
import { TenantStore } from './accounts/tenant-store.ts';
import { Tenants } from './accounts/tenants.ts';
import { UserStore } from './accounts/user-store.ts';
import { Users } from './accounts/users.ts';
import { auditEntry } from './audit/audit-entry.ts';
import { AuditLog } from './audit/audit-log.ts';
import { RequestAudit } from './audit/request-audit.ts';
import { AuthenticationSwitch } from './authentication-switch.ts';
import { CredentialCache } from './credentials/credential-cache.ts';
import { CredentialStore } from './credentials/credential-store.ts';
import { IdentityAuthenticator } from './credentials/identity-authenticator.ts';
import { KeyStore } from './credentials/key-store.ts';
import { Keys } from './credentials/keys.ts';
import { LocalToken } from './credentials/local-token.ts';
import { SessionStore } from './credentials/session-store.ts';
import { SetupCode } from './credentials/setup-code.ts';
import { WhoIs } from './credentials/who-is.ts';
import { Maintenance } from './maintenance.ts';
import { accountRoutes } from './routes/account-routes.ts';
import { auditRoutes } from './routes/audit-routes.ts';
import { authRoutes } from './routes/auth-routes.ts';
import { keyRoutes } from './routes/key-routes.ts';
import { tenantRoutes } from './routes/tenant-routes.ts';
import { userRoutes } from './routes/user-routes.ts';
import type { identitySettings } from './settings.ts';
import type { IdentityTables } from './tables.ts';

/** What tests put in place of the real thing. */
export interface IdentityOverrides {
  attempts?: AttemptLimit;
  cacheMaxAgeMs?: number;
}

export interface IdentityApi {
  readonly authenticator: Authenticator;
  readonly recorder: AccessRecorder;
  readonly tenants: TenantRules;
}

/** Another process on the same PostgreSQL database may revoke a credential: it is noticed within this time. */
const SHARED_MAX_AGE_MS = 1_000;
const SIGN_IN_LIMITS = { perAccount: 10, perAddress: 100, windowMs: 15 * 60 * 1000 };

export function createIdentity(
  context: ModuleContext<typeof identitySettings>,
  overrides: IdentityOverrides,
): Module<IdentityApi> {
  const { settings, log, node } = context;
  const storage = context.storage.access<IdentityTables>();
  const audit = new AuditLog(storage, log);
  const setupCode = new SetupCode();
  const localToken = new LocalToken(node.dataDir);
  const authentication = new AuthenticationSwitch(storage, setupCode, log);
  const isAlone = context.storage.dialect === 'sqlite';
  const cache = new CredentialCache({
    maxAgeMs: overrides.cacheMaxAgeMs ?? (isAlone ? Number.POSITIVE_INFINITY : SHARED_MAX_AGE_MS),
  });
  const onCredentialsChanged = (): void => cache.clear();
  const hasher = new PasswordHasher();
  const attempts = overrides.attempts ?? new AttemptLimit(SIGN_IN_LIMITS);
  const userStore = new UserStore(storage);
  const sessions = new SessionStore(storage);
  const keyStore = new KeyStore(storage);
  const credentials = new CredentialStore(storage);
  const tenants = new Tenants(new TenantStore(storage), onCredentialsChanged);
  const users = new Users({
    ...{ store: userStore, tenants, hasher, onCredentialsChanged },
    onFirstAccount: () => authentication.enforce(),
  });
  const sessionMaxMs = settings['identity.session_max_seconds'] * 1000;
  const sessionIdleMs = settings['identity.session_idle_seconds'] * 1000;
  const signIn = new SignIn({ users: userStore, sessions, hasher, attempts, audit, sessionMaxMs, onCredentialsChanged });
  const keys = new Keys({ store: keyStore, users: userStore, onCredentialsChanged });
  const authenticator = new IdentityAuthenticator({
    ...{ store: credentials, cache, setupCode, localToken, sessionIdleMs, state: () => authentication.state },
    onRefusal: (reason, { remoteAddress, path }) => {
      const source = { caller: ANONYMOUS, remoteAddress, requestId: '' };
      audit.add(
        auditEntry(source, { action: 'credential.refused', outcome: 'denied', detail: { reason, path: path.slice(0, 200) } }),
      );
    },
  });
  const maintenance = new Maintenance({ authentication, tenants, credentials, cache, sessionIdleMs, isAlone, log });
  const whoIs = new WhoIs({ users: userStore, keys: keyStore, sessions });
  const isRegistrationOpen = settings['identity.self_registration'] === 'open';
  return {
    api: { authenticator, recorder: new RequestAudit(audit), tenants: tenantRules(tenants, authentication) },
    routes: [
      ...authRoutes({ users, signIn, whoIs, attempts, isRegistrationOpen, state: () => authentication.state }),
      ...accountRoutes({ users, signIn, keys }),
      ...userRoutes({ users, keys }),
      ...tenantRoutes(tenants),
      ...keyRoutes(keys),
      ...auditRoutes(audit),
    ],
    start: async () => {
      await hasher.start();
      await localToken.start();
      await authentication.start();
      await tenants.refresh();
      maintenance.start();
    },
    stop: async () => {
      await maintenance.stop();
      await audit.flush();
      await localToken.stop();
    },
    health: () => ({ state: {}, reasons: [] }),
    ready: () => undefined,
  };
}

/** Without accounts everybody is the same tenant, and who may go first is for the callers to agree on. */
function tenantRules(tenants: Tenants, authentication: AuthenticationSwitch): TenantRules {
  return {
    tokensPerMinute: (tenant) => tenants.tokensPerMinute(tenant),
    allowsPriority: (tenant) => authentication.state === 'off' || tenants.allowsPriority(tenant),
  };
}
