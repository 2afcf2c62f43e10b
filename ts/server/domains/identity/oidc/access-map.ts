/** Which tenant and role people get by their groups at the sign-in provider. */
import { ROLES, type Role } from '../../../platform/http/principal.ts';
import { rankOf } from '../accounts/scopes.ts';

export interface Access {
  tenant: string;
  role: Role;
}

interface Entry extends Access {
  group: string;
}

const TENANT = /^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,127}$/;
const MAX_ENTRIES = 1_000;

export class AccessMap {
  readonly #entries: readonly Entry[];
  readonly #default: Access | undefined;

  private constructor(entries: readonly Entry[], other: Access | undefined) {
    this.#entries = entries;
    this.#default = other;
  }

  /** `groups`: a JSON object of `tenant:role`, or empty. `other`: `tenant:role` or empty. Throws an Error that says what is wrong. */
  static parse(groups: string, other: string): AccessMap {
    const entries = Object.entries(parseObject(groups)).map(([group, text]) => ({ group, ...parseAccess(text) }));
    if (entries.length > MAX_ENTRIES) throw new Error(`the map has more than ${MAX_ENTRIES} groups`);
    return new AccessMap(entries, other === '' ? undefined : parseAccess(other));
  }

  /** What a person without an account gets; undefined: nothing. */
  ofNew(groups: readonly string[]): Access | undefined {
    const first = this.#entries.find(({ group }) => groups.includes(group));
    return first === undefined ? this.#default : { tenant: first.tenant, role: this.#roleIn(first.tenant, groups) ?? first.role };
  }

  /** The role in the tenant of an account; undefined: the person may not sign in to that account now. */
  roleIn(tenant: string, groups: readonly string[]): Role | undefined {
    return this.#roleIn(tenant, groups) ?? (this.#default?.tenant === tenant ? this.#default.role : undefined);
  }

  #roleIn(tenant: string, groups: readonly string[]): Role | undefined {
    const roles = this.#entries
      .filter((entry) => entry.tenant === tenant && groups.includes(entry.group))
      .map(({ role }) => role);
    return roles.length === 0 ? undefined : ROLES[Math.max(...roles.map(rankOf))];
  }
}

function parseObject(text: string): object {
  if (text === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Error('it is no JSON object');
}

/** Ids of tenants may hold colons themselves: the last one counts. */
function parseAccess(text: unknown): Access {
  const at = typeof text === 'string' ? text.lastIndexOf(':') : -1;
  const [tenant, role] = typeof text === 'string' ? [text.slice(0, at), text.slice(at + 1)] : ['', ''];
  if (at > 0 && TENANT.test(tenant) && (ROLES as readonly string[]).includes(role)) return { tenant, role: role as Role };
  throw new Error(
    `${JSON.stringify(text)?.slice(0, 100)} is no tenant and role like default:viewer; roles are ${ROLES.join(', ')}`,
  );
}
