/** Roles of accounts in the language of the page. */
import { t } from '../i18n/language.ts';
import { hasRole, type Role } from '../session/session.ts';

const ROLES: readonly Role[] = ['viewer', 'developer', 'admin', 'superadmin'];

export function roleName(role: string): string {
  const known = ROLES.find((each) => each === role);
  return known === undefined ? role : t(`role_${known}`);
}

/** Those that the reader may give: nobody gives a role above their own. */
export function givenRoles(): readonly Role[] {
  return ROLES.filter((role) => hasRole(role));
}

export function givenRoleOptions(): { value: Role; text: string }[] {
  return givenRoles().map((value) => ({ value, text: roleName(value) }));
}
