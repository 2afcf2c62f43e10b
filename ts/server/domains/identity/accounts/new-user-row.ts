/** The row of an account that is about to be made. */
import type { Role } from '../../../platform/http/principal.ts';
import { newId } from '../secrets/base62.ts';
import type { UserRow } from '../tables.ts';
import { nameKey } from './account-name.ts';

interface NewUserFacts {
  tenant: string;
  username: string;
  email: string | undefined;
  role: Role;
  /** In the PHC format; undefined: the account signs in with no password. */
  passwordHash: string | undefined;
}

export function newUserRow({ tenant, username, email, role, passwordHash }: NewUserFacts): UserRow {
  const now = Date.now();
  return {
    tenant,
    id: newId('usr'),
    username,
    username_key: nameKey(username),
    email: email ?? null,
    email_key: email === undefined ? null : nameKey(email),
    role,
    assigned_role: role,
    password_hash: passwordHash ?? null,
    disabled: 0,
    settings: '{}',
    created_at: now,
    updated_at: now,
    signed_in_at: null,
    external_id: null,
    profile: '{}',
    service: 0,
  };
}
