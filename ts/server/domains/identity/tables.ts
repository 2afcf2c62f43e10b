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
}

export interface UserRow {
  tenant: string;
  id: string;
  username: string;
  /** The name as it is compared: no two accounts of the installation have the same one. */
  username_key: string;
  email: string | null;
  email_key: string | null;
  role: Role;
  /** In the PHC format; null: the account signs in with no password, only its keys work. */
  password_hash: string | null;
  disabled: number;
  /** A JSON object that belongs to the account's pages. */
  settings: string;
  created_at: number;
  signed_in_at: number | null;
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

export interface PasswordResetRow {
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
  identity_users: UserRow;
  identity_api_keys: ApiKeyRow;
  identity_sessions: SessionRow;
  identity_password_resets: PasswordResetRow;
  /** Single facts: whether authentication was switched on, and the head of the audit log. */
  identity_facts: { name: string; value: string };
  identity_audit: AuditRow;
}

export type IdentityStorage = StorageAccess<IdentityTables>;

/** The condition that a row belongs to the scope. On SQLite it is the only wall between tenants. */
export function within(scope: StorageScope): RawBuilder<SqlBool> {
  return isSystemScope(scope) ? sql<SqlBool>`1 = 1` : sql<SqlBool>`tenant = ${scope.tenant}`;
}
