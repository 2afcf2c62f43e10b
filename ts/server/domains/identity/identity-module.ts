/** Wires the identity module. */
import { join } from 'node:path';
import type { SealingKey } from '../../platform/crypto/sealing-key.ts';
import type { AccessRecorder } from '../../platform/http/access-recorder.ts';
import type { Authenticator, CredentialSource } from '../../platform/http/authenticator.ts';
import type { Principal } from '../../platform/http/principal.ts';
import { Mailer } from '../../platform/mail/mailer.ts';
import type { Owner } from '../../platform/module/belongings.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { StartError } from '../../platform/module/start-error.ts';
import type { TenantRules } from '../../platform/module/tenant-rules.ts';
import type { UseRules } from '../../platform/module/use-rules.ts';
import { systemScope, tenantScope } from '../../platform/storage/index.ts';
import { AccountSessions } from './accounts/account-sessions.ts';
import { AttemptLimit } from './accounts/attempt-limit.ts';
import { PasswordHasher } from './accounts/password-hasher.ts';
import { ResetMail } from './accounts/reset-mail.ts';
import { SignIn } from './accounts/sign-in.ts';
import { Superadmins } from './accounts/superadmins.ts';
import { TenantStore } from './accounts/tenant-store.ts';
import { Tenants } from './accounts/tenants.ts';
import { UserStore } from './accounts/user-store.ts';
import { Users } from './accounts/users.ts';
import type { AuditEntry } from './audit/audit-entry.ts';
import { AuditLog } from './audit/audit-log.ts';
import { RefusalLines } from './audit/refusal-lines.ts';
import { RequestAudit } from './audit/request-audit.ts';
import { Branding } from './branding/branding.ts';
import { BrandingStore } from './branding/branding-store.ts';
import { Capabilities } from './capabilities/capabilities.ts';
import { CapabilityResolver } from './capabilities/capability-resolver.ts';
import { CapabilityStore } from './capabilities/capability-store.ts';
import { predicatesOf } from './capabilities/restrictions.ts';
import { TenantKeys } from './capabilities/tenant-keys.ts';
import { ChangeAnnouncer } from './changes/change-announcer.ts';
import { ChangeFeed } from './changes/change-feed.ts';
import { type CredentialChange, credentialsChanged } from './changes/credential-change.ts';
import { IdentityWrites } from './changes/identity-writes.ts';
import { CallerLookup } from './credentials/caller-lookup.ts';
import { CredentialCache } from './credentials/credential-cache.ts';
import { CredentialStore } from './credentials/credential-store.ts';
import { DeviceCookie } from './credentials/device-cookie.ts';
import { KeyStore } from './credentials/key-store.ts';
import { Keys } from './credentials/keys.ts';
import { LocalToken } from './credentials/local-token.ts';
import { SessionStore } from './credentials/session-store.ts';
import { SetupCode } from './credentials/setup-code.ts';
import { Delegations } from './delegations.ts';
import { Erasure } from './erasure.ts';
import { credentialLimits, GroupLimits, LimitIntersection } from './groups/group-limits.ts';
import { GroupStore } from './groups/group-store.ts';
import { Groups } from './groups/groups.ts';
import { AuthenticationSwitch, IdentityAuthenticator } from './identity-authenticator.ts';
import { InvitationStore } from './invitations/invitation-store.ts';
import { Invitations } from './invitations/invitations.ts';
import { Maintenance } from './maintenance.ts';
import { AccessTokens, type ProtectedResource } from './oidc/access-tokens.ts';
import { LinkStore } from './oidc/link-store.ts';
import { oidcConfig } from './oidc/oidc-config.ts';
import { OidcSignIn } from './oidc/oidc-sign-in.ts';
import { Provider } from './oidc/provider.ts';
import { DirectoryReader } from './provisioning/directory-reader.ts';
import { GroupWrites } from './provisioning/group-writes.ts';
import { ProvisionedGroups } from './provisioning/provisioned-groups.ts';
import { ProvisionedUsers } from './provisioning/provisioned-users.ts';
import { accountRoutes } from './routes/account-routes.ts';
import { auditRoutes } from './routes/audit-routes.ts';
import { authRoutes } from './routes/auth-routes.ts';
import { brandingRoutes } from './routes/branding-routes.ts';
import { capabilityRoutes } from './routes/capability-routes.ts';
import { groupRoutes } from './routes/group-routes.ts';
import { invitationRoutes } from './routes/invitation-routes.ts';
import { keyRoutes } from './routes/key-routes.ts';
import { oidcRoutes } from './routes/oidc-routes.ts';
import { sessionRoutes } from './routes/session-routes.ts';
import { tenantRoutes } from './routes/tenant-routes.ts';
import { userRoutes } from './routes/user-routes.ts';
import type { identitySettings } from './settings.ts';
import type { IdentityTables } from './tables.ts';

/** Tests put these in place of the real things. */
export interface IdentityOverrides {
  attempts?: AttemptLimit;
  resetAttempts?: AttemptLimit;
  cacheMaxAgeMs?: number;
  /** The node looks so often for what deleted tenants and accounts left on it. */
  sweepMs?: number;
}

export interface IdentityApi {
  /** The things that callers may use, by kind. */
  readonly uses: UseRules;
  /** Accounts and groups as a directory writes them. */
  readonly provisioning: { readonly users: ProvisionedUsers; readonly groups: ProvisionedGroups };
  readonly authenticator: Authenticator;
  /** The administrator of this machine, by the token in its data folder, also where other nodes judge all other credentials. */
  localAdmin(source: CredentialSource): Principal | undefined;
  readonly recorder: AccessRecorder;
  readonly tenants: TenantRules;
  /** The setting identity.end_open_requests. */
  readonly endsOpenRequests: boolean;
  /** Other parts of the node that keep something of tenants and accounts are told once, before the events start. */
  connectOwners(owners: readonly Owner[]): void;
  /** Whether the accounts of a cluster's controllers count, and those of this node do not. */
  connectCluster(cluster: { readonly isMember: boolean }): void;
  /** Delegations: callers let the node do something later in their name. */
  readonly delegations: Delegations;
  /** The node does it by itself. Resolves when the line is in the log. */
  recordAct(entry: AuditEntry): Promise<void>;
  /** The key of this node that secrets are sealed with before they are stored. */
  sealingKey(): Promise<SealingKey>;
  /** The address under which people reach the node, without a slash at its end; empty: nobody said. */
  readonly publicUrl: string;
  /** `/mcp` as a resource of the sign-in provider; undefined: it takes no tokens of one. */
  readonly protectedResource: ProtectedResource | undefined;
}

/** While other processes on the same database are not heard, what one of them revokes is noticed within this time. */
const SHARED_MAX_AGE_MS = 1_000;
const SWEEP_MS = 60_000;
const REVOCATIONS_LATE = {
  code: 'revocations_late',
  detail: 'Revocations by other nodes are not heard of, so each credential is looked up once a second.',
};
/** Messages that somebody else may have asked for fill a person's mailbox. */
const RESET_MAIL_LIMITS = { perClient: 3, perAccount: 6, perAddress: 20, windowMs: 60 * 60 * 1000 };
const SIGN_IN_LIMITS = {
  perClient: 10,
  perAddress: 100,
  windowMs: 15 * 60 * 1000,
  perAccount: 50,
  accountWindowMs: 60 * 60 * 1000,
};

export function createIdentity(
  context: ModuleContext<typeof identitySettings>,
  overrides: IdentityOverrides,
): Module<IdentityApi> {
  const { settings, log, node, useKinds: kinds } = context;
  const mailer = mailerOf(settings);
  const storage = context.storage.access<IdentityTables>();
  const audit = new AuditLog(storage, log);
  const setupCode = new SetupCode();
  const localToken = new LocalToken(node.dataDir);
  const authentication = new AuthenticationSwitch(storage, setupCode, log);
  const publicUrl = settings['edge.public_url'].replace(/\/$/, '');
  const isAlone = context.storage.dialect === 'sqlite';
  const maxAgeMs = (): number => overrides.cacheMaxAgeMs ?? (changes.isLive ? Number.POSITIVE_INFINITY : SHARED_MAX_AGE_MS);
  const cache = new CredentialCache({ maxAgeMs });
  const onCredentialsChanged = ({ tenant, user, requestId }: CredentialChange): void => {
    cache.clear();
    groupLimits.clear();
    const scope = tenant === undefined ? systemScope() : tenantScope(tenant);
    const ends_open_requests = settings['identity.end_open_requests'];
    context.events.publish(scope, credentialsChanged, { user: user ?? null, request_id: requestId, ends_open_requests });
  };
  const announcer = new ChangeAnnouncer(storage);
  const writes = new IdentityWrites(storage, announcer);
  const changes = new ChangeFeed({ storage: context.storage, announcer, log, onChange: onCredentialsChanged });
  const hasher = new PasswordHasher();
  const devices = new DeviceCookie(storage);
  const attempts = overrides.attempts ?? new AttemptLimit(SIGN_IN_LIMITS);
  const oidcSettings = oidcConfig(settings);
  const protectedResource =
    oidcSettings === undefined || publicUrl === '' ? undefined : resourceOf(publicUrl, oidcSettings.issuer);
  const superadmins = new Superadmins(oidcSettings?.issuer);
  const userStore = new UserStore(storage, writes, superadmins);
  const sessions = new SessionStore(storage, writes);
  const keyStore = new KeyStore(storage, writes);
  const credentials = new CredentialStore(storage);
  const erasure = new Erasure({
    events: context.events,
    storage,
    log,
    sweepMs: overrides.sweepMs ?? SWEEP_MS,
  });
  const tenants = new Tenants({
    kinds,
    store: new TenantStore(storage, writes, superadmins),
    authentication,
    onRemoved: onCredentialsChanged,
    ownersOf: (tenant) => erasure.ownersOf(tenant),
  });
  const groupStore = new GroupStore(storage, writes);
  const groupLimits = new GroupLimits({
    kinds,
    store: groupStore,
    tenants,
    maxAgeMs,
    authentication,
  });
  const uses = new LimitIntersection(kinds, [groupLimits, credentialLimits]);
  const groups = new Groups({ store: groupStore, tenants, onCredentialsChanged });
  const invitations = new Invitations({ store: new InvitationStore(storage, writes), tenants, hasher });
  const users = new Users({
    store: userStore,
    tenants,
    hasher,
    onCredentialsChanged,
    onFirstAccount: () => authentication.enforce(),
  });
  const reader = new DirectoryReader(storage);
  const provisionedUsers = new ProvisionedUsers({
    reader,
    users: userStore,
    hasher,
    onCredentialsChanged,
    onFirstAccount: () => authentication.enforce(),
  });
  const provisionedGroups = new ProvisionedGroups({
    reader,
    writes: new GroupWrites(writes),
    groups: groupStore,
    onCredentialsChanged,
  });
  const sessionMaxMs = settings['identity.session_max_seconds'] * 1000;
  const sessionIdleMs = settings['identity.session_idle_seconds'] * 1000;
  const signIn = new SignIn({ users: userStore, sessions, hasher, attempts, audit, sessionMaxMs, onCredentialsChanged });
  const links = new LinkStore(storage, writes, superadmins);
  const provider = oidcSettings && new Provider(oidcSettings);
  const oidc =
    oidcSettings &&
    provider &&
    new OidcSignIn({
      config: oidcSettings,
      provider,
      store: links,
      signIn,
      tenants,
      attempts,
      audit,
      log,
      onCredentialsChanged,
    });
  const resetMail = new ResetMail({
    store: userStore,
    users,
    sessions,
    mailer,
    publicUrl: settings['edge.public_url'],
    log,
    attempts: overrides.resetAttempts ?? new AttemptLimit(RESET_MAIL_LIMITS),
  });
  const keys = new Keys({ store: keyStore, users: userStore, onCredentialsChanged });
  const capabilityStore = new CapabilityStore(storage, writes);
  const tenantKeys = new TenantKeys(capabilityStore, join(node.dataDir, 'sealing.key'));
  const predicates = predicatesOf(kinds);
  const resolver = new CapabilityResolver(capabilityStore, predicates);
  const capabilities = new Capabilities({
    store: capabilityStore,
    resolver,
    predicates,
    users: userStore,
    onCredentialsChanged,
    keys: tenantKeys,
  });
  const refusals = new RefusalLines((entry) => audit.add(entry));
  const authenticator = new IdentityAuthenticator({
    store: credentials,
    capabilities: resolver,
    cache,
    setupCode,
    localToken,
    sessionIdleMs,
    authentication,
    accessTokens: provider && protectedResource && new AccessTokens({ provider, links, resource: protectedResource }),
    onRefusal: (reason, { remoteAddress, path }) => refusals.note({ reason, remoteAddress, path }),
  });
  const recordAct = async (entry: AuditEntry): Promise<void> => {
    audit.add(entry);
    await audit.flush();
  };
  const maintenance = new Maintenance({ authentication, tenants, credentials, cache, changes, sessionIdleMs, isAlone, log });
  const callers = new CallerLookup(userStore);
  const delegations = new Delegations({
    users: userStore,
    keys: keyStore,
    capabilities: capabilityStore,
    isEnforced: () => authentication.state === 'enforce',
    now: () => Date.now(),
  });
  let cluster: { readonly isMember: boolean } | undefined;
  const isRegistrationOpen = settings['identity.self_registration'] === 'open';
  return {
    api: {
      authenticator,
      localAdmin: (source) => authenticator.localAdmin(source),
      recorder: new RequestAudit(audit),
      tenants,
      uses,
      recordAct,
      delegations,
      sealingKey: () => tenantKeys.sealingKey(),
      publicUrl,
      protectedResource,
      endsOpenRequests: settings['identity.end_open_requests'],
      connectOwners: (owners) => erasure.connect(owners),
      connectCluster: (given) => {
        cluster = given;
      },
      provisioning: { users: provisionedUsers, groups: provisionedGroups },
    },
    routes: [
      ...authRoutes({
        users,
        signIn,
        callers,
        attempts,
        devices,
        resetMail,
        isRegistrationOpen,
        invitations,
        useKinds: kinds,
        oidcLabel: oidc?.label,
        hasResetMail: mailer !== undefined,
        state: () => authentication.state,
      }),
      ...oidcRoutes(oidc, devices),
      ...groupRoutes(groups, kinds),
      ...invitationRoutes(invitations),
      ...accountRoutes({ users, signIn, keys }),
      ...userRoutes({ users, keys, isMember: () => cluster?.isMember === true }),
      ...sessionRoutes(new AccountSessions({ users, sessions, onCredentialsChanged })),
      ...tenantRoutes(tenants, kinds),
      ...brandingRoutes(new Branding({ store: new BrandingStore(storage, writes), tenants })),
      ...keyRoutes(keys),
      ...capabilityRoutes(capabilities, kinds),
      ...auditRoutes(audit),
    ],
    start: async () => {
      hasher.start();
      await Promise.all([localToken.start(), authentication.start(), tenants.refresh(), devices.start()]);
      changes.start();
      maintenance.start();
      erasure.start();
      refusals.start();
    },
    stop: async () => {
      await changes.stop();
      await maintenance.stop();
      await erasure.stop();
      await resetMail.stop();
      mailer?.close();
      refusals.stop();
      await audit.flush();
      await localToken.stop();
    },
    health: () => ({ state: {}, reasons: changes.isLive ? [] : [REVOCATIONS_LATE] }),
    ready: () => undefined,
  };
}

function resourceOf(publicUrl: string, issuer: URL): ProtectedResource {
  return {
    audience: `${publicUrl}/mcp`,
    issuer: issuer.href,
    metadataUrl: `${publicUrl}/.well-known/oauth-protected-resource/mcp`,
  };
}

function mailerOf(settings: ModuleContext<typeof identitySettings>['settings']): Mailer | undefined {
  const { 'smtp.host': host, 'smtp.port': port, 'smtp.security': security, 'smtp.from': from } = settings;
  if (host === '') return undefined;
  if (from === '')
    throw new StartError(
      'incomplete_smtp',
      'smtp.host is set, and smtp.from is not',
      'set smtp.from to the address that e-mail comes from',
    );
  const { 'smtp.username': username, 'smtp.password': password, 'smtp.ca': caFile } = settings;
  return new Mailer({ host, port, security, username, password, from, caFile });
}
