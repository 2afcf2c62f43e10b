/** The rows that identity keeps, and the access to them. Times are milliseconds since 1970; flags are 0 or 1. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Role } from '../../platform/http/principal.ts';
import { isSystemScope, type StorageAccess, type StorageScope } from '../../platform/storage/index.ts';

export interface TenantRow {
  id: string;
  name: string;
  /** Prompt and completion tokens in any minute; null: the node's default. */
  tokens_per_minute: number | null;
  priority: number;
  created_at: number;
  /** A JSON object by kind of things: whether all of them may be used, or only those that groups grant. A kind that is absent is open. */
  access: string;
}

export type UseAccess = 'open' | 'granted';

/** How the pages of a tenant look; null: as the product's own. */
export interface BrandingRow {
  tenant: string;
  name: string | null;
  /** #rrggbb, on light and on dark pages. */
  accent: string | null;
  accent_dark: string | null;
  welcome: string | null;
  /** A PNG that the server encoded itself. */
  logo: Uint8Array | null;
  logo_hash: string | null;
  updated_at: number;
}

export interface UserRow {
  tenant: string;
  id: string;
  username: string;
  /** The name as it is compared: no two accounts of the installation have the same one. */
  username_key: string;
  email: string | null;
  email_key: string | null;
  /** The highest of its own role and those of its groups: what counts. */
  role: Role;
  /** The role that it was given itself. */
  assigned_role: Role;
  /** In the PHC format; null: the account signs in with no password, only its keys work. */
  password_hash: string | null;
  disabled: number;
  /** A JSON object that belongs to the account's pages. */
  settings: string;
  created_at: number;
  signed_in_at: number | null;
  /** 1: a program's account, which signs in with no password and uses keys. */
  service: number;
  /** Id of the account in the directory that provisions it; see provisioning/. */
  external_id: string | null;
  /** A JSON object: what a directory said of the person, in SCIM's words. */
  profile: string;
  updated_at: number;
}

export interface GroupRow {
  tenant: string;
  id: string;
  name: string;
  /** The name as it is compared: no two groups of a tenant have the same one. */
  name_key: string;
  description: string;
  /** The least role of its members; null: it gives none. Never superadmin. */
  role: Role | null;
  /** A JSON object by kind of things: arrays of names, in which `*` stands for any characters. */
  grants: string;
  /** Id or name of the group in the directory or at the sign-in provider. */
  external_id: string | null;
  created_at: number;
  updated_at: number;
}

/** `direct`: an administrator or a directory put the account in. `sign_in`: the provider named the group at the last sign-in. */
export type MemberSource = 'direct' | 'sign_in';

export interface GroupMemberRow {
  tenant: string;
  group_id: string;
  user_id: string;
  source: MemberSource;
}

/** An account at a sign-in provider, and the account here that it signs in to. */
export interface LinkRow {
  tenant: string;
  issuer: string;
  subject: string;
  user_id: string;
  /** 1: the provider's groups decide the role. 0: the account was there before, and its owner linked it. */
  is_managed: number;
  created_at: number;
}

export interface InvitationRow {
  tenant: string;
  id: string;
  /** SHA-256 of the token. */
  hash: string;
  note: string;
  role: Role;
  /** A JSON array of ids. */
  groups: string;
  max_uses: number;
  uses: number;
  /** The account that made it; null: the machine's administrator. */
  created_by: string | null;
  created_at: number;
  expires_at: number;
}

export interface ApiKeyRow {
  tenant: string;
  id: string;
  /** SHA-256 of the key. */
  hash: string;
  user_id: string;
  name: string;
  /** The first characters of the key, by which people recognise it. */
  start: string;
  /** A JSON array; null: what the role of its account may do. */
  scopes: string | null;
  created_at: number;
  expires_at: number | null;
  /** Rows of revoked keys stay, so that a refusal can say that the key was revoked. */
  revoked_at: number | null;
  used_at: number | null;
}

export interface SessionRow {
  tenant: string;
  id: string;
  /** SHA-256 of the token. */
  hash: string;
  user_id: string;
  created_at: number;
  seen_at: number;
  expires_at: number;
  remote_address: string;
  user_agent: string;
}

/** A pair of keys that signs capability tokens of a tenant. */
export interface CapabilityKeyRow {
  tenant: string;
  /** Stands in the tokens, unsigned: a hint which key to check them with. From 1 to 2^32 - 1. */
  number: number;
  /** Id of the node's key that the private key is sealed with. */
  sealed_by: string;
  /** Hexadecimal. */
  public_key: string;
  /** Sealed; only the node that made the pair can use it. */
  private_key: string;
  created_at: number;
}

/** A capability token that was issued or revoked here. Tokens that were derived elsewhere have no row until they are revoked. */
export interface CapabilityRow {
  tenant: string;
  id: string;
  /** Of the token's last block, hexadecimal. */
  revocation_id: string;
  user_id: string;
  /** The token that it was derived from; null: none, or one without a row. */
  parent_id: string | null;
  /** A JSON array. */
  scopes: string;
  /** A JSON object by kind of things: arrays of names; null or absent: any. */
  uses: string;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
}

interface PasswordResetRow {
  tenant: string;
  /** SHA-256 of the token. */
  hash: string;
  user_id: string;
  expires_at: number;
}

export interface AuditRow {
  /** Counted from 1 without gaps. */
  seq: number;
  at: number;
  tenant: string;
  actor: string;
  action: string;
  target: string;
  outcome: string;
  /** A JSON object. */
  detail: string;
  remote_address: string;
  request_id: string;
  /** SHA-256 over the hash of the entry before and what this one says. */
  hash: string;
}

export interface IdentityTables {
  identity_tenants: TenantRow;
  /** Their ids are not used again. */
  identity_deleted_tenants: { id: string; deleted_at: number };
  identity_deleted_users: { id: string; deleted_at: number };
  identity_users: UserRow;
  identity_groups: GroupRow;
  identity_group_members: GroupMemberRow;
  identity_links: LinkRow;
  identity_invitations: InvitationRow;
  identity_api_keys: ApiKeyRow;
  identity_sessions: SessionRow;
  identity_password_resets: PasswordResetRow;
  identity_capability_keys: CapabilityKeyRow;
  identity_capabilities: CapabilityRow;
  /** Single facts: whether authentication was switched on, the head of the audit log, the version of the credentials. */
  identity_facts: { name: string; value: string };
  identity_audit: AuditRow;
  identity_branding: BrandingRow;
}

export type IdentityStorage = StorageAccess<IdentityTables>;

/** The condition that a row belongs to the scope. On SQLite it is the only wall between tenants. */
export function within(scope: StorageScope): RawBuilder<SqlBool> {
  return isSystemScope(scope) ? sql<SqlBool>`1 = 1` : sql<SqlBool>`tenant = ${scope.tenant}`;
}
