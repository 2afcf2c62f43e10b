/** Groups as administrators handle them. */
import type { Principal, Role } from '../../../platform/http/principal.ts';
import { isSystemScope, tenantScope } from '../../../platform/storage/index.ts';
import { administeredScope, requireReach } from '../accounts/access-check.ts';
import { nameKey } from '../accounts/account-name.ts';
import type { Tenants } from '../accounts/tenants.ts';
import { throwUserNotFound } from '../accounts/users.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import { identityError, translateUniqueViolation } from '../errors.ts';
import { newId } from '../secrets/base62.ts';
import type { GroupRow, UserRow } from '../tables.ts';
import { type CountedGroup, type GroupChanges, type GroupPage, type GroupStore, grantsOf } from './group-store.ts';

export interface GroupUpdate {
  name?: string | undefined;
  description?: string | undefined;
  /** Null takes it away. */
  role?: Role | null | undefined;
  /** Names by kind; a kind that is absent stays as it is. */
  grants?: Readonly<Record<string, readonly string[]>> | undefined;
  externalId?: string | null | undefined;
}

interface NewGroup extends GroupUpdate {
  name: string;
  tenant: string | undefined;
}

interface GroupsDeps {
  store: GroupStore;
  tenants: Tenants;
  /** Roles or grants of accounts changed. */
  onCredentialsChanged(change: CredentialChange): void;
}

export class Groups {
  readonly #deps: GroupsDeps;

  constructor(deps: GroupsDeps) {
    this.#deps = deps;
  }

  async create({ tenant: asked, ...group }: NewGroup, source: AuditSource): Promise<CountedGroup> {
    if (group.role) requireReach(source.caller, group.role);
    const tenant = await this.#deps.tenants.administered(asked, source.caller);
    const row = newGroupRow(tenant, group.name, changesOf(group));
    const entry = auditEntry(source, { action: 'group.create', tenant, target: row.id, detail: said(group) });
    await this.#deps.store
      .add(tenantScope(tenant), row, entry)
      .catch((error: unknown) => translateUniqueViolation(error, taken()));
    return { ...row, nMembers: 0 };
  }

  list(page: GroupPage, caller: Principal): Promise<CountedGroup[]> {
    return this.#deps.store.list(administeredScope(caller), page);
  }

  /** Throws `group_not_found` for a group of another tenant, as for one that does not exist. */
  async get(id: string, caller: Principal): Promise<CountedGroup> {
    return (await this.#deps.store.find(administeredScope(caller), id)) ?? throwGroupNotFound(id);
  }

  async update(id: string, update: GroupUpdate, source: AuditSource): Promise<CountedGroup> {
    if (update.role) requireReach(source.caller, update.role);
    const entry = auditEntry(source, { action: 'group.update', target: id, detail: said(update) });
    const updated = await this.#deps.store
      .update(administeredScope(source.caller), id, (before) => changesOf(update, before), entry)
      .catch((error: unknown) => translateUniqueViolation(error, taken()));
    this.#deps.onCredentialsChanged(changeBy(source));
    if (updated === undefined) throwGroupNotFound(id);
    return this.get(id, source.caller);
  }

  async remove(id: string, source: AuditSource): Promise<void> {
    const entry = auditEntry(source, { action: 'group.delete', target: id });
    const isRemoved = await this.#deps.store.remove(administeredScope(source.caller), id, () => {}, entry);
    this.#deps.onCredentialsChanged(changeBy(source));
    if (!isRemoved) throwGroupNotFound(id);
  }

  async members(id: string, after: string, limit: number, caller: Principal): Promise<UserRow[]> {
    await this.get(id, caller);
    return this.#deps.store.members(administeredScope(caller), id, after, limit);
  }

  /** All of them or none: an account of another tenant is like one that does not exist. */
  async addMembers(id: string, userIds: readonly string[], source: AuditSource): Promise<void> {
    const entry = auditEntry(source, { action: 'group.add', target: id, detail: { users: userIds } });
    const check = ([unknown]: readonly string[]): void => {
      if (unknown !== undefined) throwUserNotFound(unknown);
    };
    const isThere = await this.#deps.store.addMembers(administeredScope(source.caller), id, [...new Set(userIds)], check, entry);
    this.#deps.onCredentialsChanged(changeBy(source));
    if (!isThere) throwGroupNotFound(id);
  }

  async removeMember(id: string, userId: string, source: AuditSource): Promise<void> {
    await this.get(id, source.caller);
    const entry = auditEntry(source, { action: 'group.remove', target: id, detail: { users: [userId] } });
    const isRemoved = await this.#deps.store.removeMember(administeredScope(source.caller), id, userId, entry);
    this.#deps.onCredentialsChanged(changeBy(source));
    if (!isRemoved) throw identityError('user_not_found', `The group has no account ${userId.slice(0, 64)}.`);
  }
}

export function newGroupRow(tenant: string, name: string, changes: GroupChanges): GroupRow {
  const now = Date.now();
  return {
    tenant,
    id: newId('grp'),
    name,
    name_key: nameKey(name),
    description: '',
    role: null,
    grants: '{}',
    external_id: null,
    created_at: now,
    updated_at: now,
    ...changes,
  };
}

function changesOf(
  { name, description, role, grants, externalId }: GroupUpdate,
  before: Pick<GroupRow, 'grants'> = { grants: '{}' },
): GroupChanges {
  return {
    ...(name !== undefined && { name, name_key: nameKey(name) }),
    ...(description !== undefined && { description }),
    ...(role !== undefined && { role }),
    ...(grants !== undefined && { grants: JSON.stringify({ ...grantsOf(before), ...distinct(grants) }) }),
    ...(externalId !== undefined && { external_id: externalId }),
  };
}

function distinct(grants: Readonly<Record<string, readonly string[]>>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(grants).map(([kind, names]) => [kind, [...new Set(names)]]));
}

function said({ grants, ...update }: GroupUpdate): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...update, ...grants }).filter(([, value]) => value !== undefined));
}

function taken(): ReturnType<typeof identityError> {
  return identityError('group_exists', 'Another group of the tenant has this name; choose another.');
}

export function throwGroupNotFound(id: string): never {
  throw identityError('group_not_found', `There is no group ${id.slice(0, 64)}.`);
}

/** A superadmin's change may be in any tenant. */
function changeBy({ caller, requestId }: AuditSource): CredentialChange {
  const scope = administeredScope(caller);
  return { tenant: isSystemScope(scope) ? undefined : scope.tenant, user: undefined, requestId };
}
