/** Shapes of the identity API. Times are ISO 8601 in UTC. */
import Type, { type Static } from 'typebox';
import { ROLES } from '../../platform/http/principal.ts';
import type { UseKind } from '../../platform/module/use-rules.ts';
import { named } from '../../platform/schema/named.ts';
import { EMAIL_PATTERN, USERNAME_PATTERN } from './accounts/account-name.ts';
import { MAX_PASSWORD_LENGTH } from './accounts/password-rules.ts';
import { SCOPES } from './accounts/scopes.ts';
import { accessIn } from './accounts/tenants.ts';
import type { KeyNameRow } from './credentials/key-store.ts';
import { accessOf, nameOf, schemasByKind, writeByKind } from './members-by-kind.ts';
import type { ApiKeyRow, AuditRow, SessionRow, TenantRow, UserRow } from './tables.ts';

export const Time = Type.String({ description: 'ISO 8601, UTC.' });
export const Nullable = <S extends ReturnType<typeof Type.String>>(schema: S) => Type.Union([schema, Type.Null()]);
export const RoleName = Type.Enum([...ROLES]);
export const Id = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });
const Password = Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH, description: 'At least 8 characters.' });
const Username = Type.String({ pattern: USERNAME_PATTERN, description: 'Unique in the installation, whatever the case.' });
const Email = Type.String({ pattern: EMAIL_PATTERN });
export const TenantId = Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,127}$' });
const Scopes = Type.Array(Type.Enum([...SCOPES]), { maxItems: SCOPES.length, description: 'Absent: what the role may do.' });
const UseAccess = ([, many]: UseKind['labels']) =>
  Type.Enum(['open', 'granted'], { description: `Whether everybody may use all ${many}, or only what groups grant.` });
const TokensPerMinute = Type.Integer({ minimum: 1, description: 'Prompt and completion tokens in any minute.' });

export const Registration = named(
  'Registration',
  Type.Object({
    username: Username,
    password: Password,
    email: Type.Optional(Email),
    tenant: Type.Optional(TenantId),
    invitation: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'The token of an invitation; it says the tenant and the role.' }),
    ),
  }),
);
export const Login = named('Login', Type.Object({ username: Type.String({ minLength: 1, maxLength: 256 }), password: Password }));
export const PasswordReset = named(
  'PasswordReset',
  Type.Object({ token: Type.String({ minLength: 1, maxLength: 256 }), password: Password }),
);
export const ResetRequest = named(
  'ResetRequest',
  Type.Object({
    username: Type.String({ minLength: 1, maxLength: 256, description: 'Name or address of the account.' }),
  }),
);
export const ResetAnswer = named('ResetAnswer', Type.Object({ detail: Type.String() }));
const Account = Type.Object({ id: Type.String(), username: Type.String(), tenant: Type.String(), role: RoleName });
export const SessionOpened = named(
  'SessionOpened',
  Type.Object({
    token: Type.String({ description: 'For Authorization: Bearer. Also set as a cookie.' }),
    expires_at: Time,
    user: Account,
  }),
);
/** `kinds`: of things that a capability may be limited in. */
export function whoamiSchema(kinds: readonly UseKind[]) {
  const Limits = ({ labels: [, many] }: UseKind) =>
    Type.Optional(Type.Array(Type.String(), { description: `The only ${many} that a capability may use.` }));
  const Whoami = Type.Object({
    kind: Type.Enum(['user', 'api_key', 'capability', 'anonymous']),
    user: Type.Union([Account, Type.Null()]),
    tenant: Type.String(),
    role: Type.Union([RoleName, Type.Null()]),
    scopes: Type.Array(Type.String()),
    key_id: Nullable(Type.String()),
    expires_at: Nullable(Time),
    ...schemasByKind(kinds, nameOf, Limits),
  });
  return named('Whoami', Whoami);
}
export const Settings = named(
  'AccountSettings',
  Type.Object({}, { additionalProperties: true, description: 'What the caller stored.' }),
);

export const User = named(
  'User',
  Type.Object({
    id: Type.String(),
    username: Type.String(),
    email: Nullable(Type.String()),
    tenant: Type.String(),
    role: RoleName,
    assigned_role: Type.Enum([...ROLES], { description: 'Its own role; `role` is the highest of it and those of its groups.' }),
    disabled: Type.Boolean(),
    has_password: Type.Boolean(),
    created_at: Time,
    signed_in_at: Nullable(Time),
    service: Type.Boolean({ description: 'A program’s account, which uses API keys alone.' }),
  }),
);
export const NewUser = named(
  'NewUser',
  Type.Object({
    username: Username,
    password: Type.Optional(Password),
    email: Type.Optional(Email),
    tenant: Type.Optional(TenantId),
    role: RoleName,
    service: Type.Optional(Type.Boolean({ description: 'An account that can never have a password; it uses API keys.' })),
  }),
);
export const UserPatch = named(
  'UserPatch',
  Type.Object({
    role: Type.Optional(RoleName),
    disabled: Type.Optional(Type.Boolean()),
    password: Type.Optional(Password),
  }),
);
export const ResetToken = named('ResetToken', Type.Object({ token: Type.String(), expires_at: Time }));

const TenantName = Type.String({ minLength: 1, maxLength: 200 });
/** `kinds`: of things that may be left to what groups grant. */
export function tenantSchemas(kinds: readonly UseKind[]) {
  const accesses = schemasByKind(kinds, accessOf, ({ labels }) => Type.Optional(UseAccess(labels)));
  const Tenant = Type.Object({
    id: Type.String(),
    name: Type.String(),
    tokens_per_minute: Type.Union([Type.Integer(), Type.Null()]),
    priority: Type.Boolean(),
    created_at: Time,
    ...schemasByKind(kinds, accessOf, ({ labels }) => UseAccess(labels)),
  });
  const NewTenant = Type.Object({
    id: TenantId,
    name: Type.Optional(TenantName),
    tokens_per_minute: Type.Optional(TokensPerMinute),
    priority: Type.Optional(Type.Boolean({ description: 'Whether its requests may go before those of others.' })),
    ...accesses,
  });
  const TenantPatch = Type.Object({
    name: Type.Optional(TenantName),
    tokens_per_minute: Type.Optional(Type.Union([TokensPerMinute, Type.Null()])),
    priority: Type.Optional(Type.Boolean()),
    ...accesses,
  });
  return {
    Tenant: named('Tenant', Tenant),
    NewTenant: named('NewTenant', NewTenant),
    TenantPatch: named('TenantPatch', TenantPatch),
  };
}
export type TenantSchemas = ReturnType<typeof tenantSchemas>;

export const Key = named(
  'ApiKey',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    start: Type.String(),
    user: Type.String({ description: 'Id of its account.' }),
    tenant: Type.String(),
    scopes: Type.Union([Type.Array(Type.String()), Type.Null()]),
    created_at: Time,
    expires_at: Nullable(Time),
    used_at: Nullable(Time),
  }),
);
export const KeyName = named(
  'KeyName',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    user: Type.String({ description: 'Id of its account.' }),
    tenant: Type.String(),
    revoked: Type.Boolean(),
  }),
);
export const NewKey = named(
  'NewKey',
  Type.Object({
    name: Type.String({ minLength: 1, maxLength: 100 }),
    scopes: Type.Optional(Scopes),
    expires_in_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 * 365 * 24 * 3600 })),
    user: Type.Optional(Type.String({ maxLength: 128, description: 'Id of the account that gets it; for administrators.' })),
  }),
);
export const IssuedKey = named(
  'IssuedKey',
  Type.Object({
    id: Type.String(),
    api_key: Type.String({ description: 'Shown this once.' }),
    name: Type.String(),
    scopes: Type.Union([Type.Array(Type.String()), Type.Null()]),
    expires_at: Nullable(Time),
  }),
);

export const Session = named(
  'Session',
  Type.Object({
    id: Type.String(),
    created_at: Time,
    seen_at: Time,
    expires_at: Time,
    remote_address: Type.String(),
    user_agent: Type.String(),
    current: Type.Boolean(),
  }),
);
export const AuditLine = named(
  'AuditEntry',
  Type.Object({
    seq: Type.Integer(),
    at: Time,
    tenant: Type.String(),
    actor: Type.String(),
    action: Type.String(),
    target: Type.String(),
    outcome: Type.Enum(['done', 'denied', 'failed']),
    detail: Type.Object({}),
    remote_address: Type.String(),
    request_id: Type.String(),
    hash: Type.String(),
  }),
);

export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : timeOf(ms);
}

export function accountBody({ id, username, tenant, role }: UserRow): Static<typeof Account> {
  return { id, username, tenant, role };
}

export function userBody(row: UserRow): Static<typeof User> {
  const { email, disabled, password_hash, created_at, signed_in_at, assigned_role, service } = row;
  const times = { created_at: timeOf(created_at), signed_in_at: timeOrNull(signed_in_at) };
  const flags = { disabled: disabled === 1, has_password: password_hash !== null, service: service === 1 };
  return { ...accountBody(row), email, assigned_role, ...flags, ...times };
}

export function tenantBody(kinds: readonly UseKind[], row: TenantRow): Static<TenantSchemas['Tenant']> {
  const { id, name, tokens_per_minute, priority, created_at } = row;
  const access = accessIn(row);
  const accesses = writeByKind(kinds, accessOf, (kind) => access[kind] ?? 'open');
  return { id, name, tokens_per_minute, priority: priority === 1, created_at: timeOf(created_at), ...accesses };
}

export function keyBody({ id, name, start, user_id, tenant, scopes, ...times }: ApiKeyRow): Static<typeof Key> {
  return {
    id,
    name,
    start,
    user: user_id,
    tenant,
    scopes: scopes === null ? null : (JSON.parse(scopes) as string[]),
    created_at: timeOf(times.created_at),
    expires_at: timeOrNull(times.expires_at),
    used_at: timeOrNull(times.used_at),
  };
}

export function keyNameBody({ id, name, user_id: user, tenant, revoked_at: revokedAt }: KeyNameRow): Static<typeof KeyName> {
  return { id, name, user, tenant, revoked: revokedAt !== null };
}

export function issuedKeyBody({ row, apiKey }: { row: ApiKeyRow; apiKey: string }): Static<typeof IssuedKey> {
  const { id, name, scopes, expires_at } = keyBody(row);
  return { id, api_key: apiKey, name, scopes, expires_at };
}

export function sessionBody(row: SessionRow, currentId: string | undefined): Static<typeof Session> {
  const { id, remote_address, user_agent } = row;
  const times = { created_at: timeOf(row.created_at), seen_at: timeOf(row.seen_at), expires_at: timeOf(row.expires_at) };
  return { id, ...times, remote_address, user_agent, current: id === currentId };
}

export function auditBody({ at, detail, outcome, ...row }: AuditRow): Static<typeof AuditLine> {
  const outcomes = { outcome: outcome as Static<typeof AuditLine>['outcome'] };
  return { ...row, ...outcomes, at: timeOf(at), detail: JSON.parse(detail) as object };
}
