/** Groups as a directory provisions them, always those of the caller's own tenant. Roles and grants are given here, see groups/. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { nameKey } from '../accounts/account-name.ts';
import { ownScope } from '../accounts/reach.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import { identityError, translateUniqueViolation } from '../errors.ts';
import type { GroupStore } from '../groups/group-store.ts';
import { newGroupRow, throwGroupNotFound } from '../groups/groups.ts';
import { timeOf } from '../schemas.ts';
import type { GroupRow } from '../tables.ts';
import { type ListQuery, listResources, type ResourceSource } from './list-resources.ts';
import { GROUP } from './resource/kinds.ts';
import { type PatchOperation, patched } from './resource/patch.ts';
import { isWanted, type Projection, project } from './resource/projection.ts';
import { isObject, type Resource, readResource } from './resource/resource.ts';
import { invalidScim } from './scim-error.ts';
import type { GroupDraft, ScimGroupStore } from './scim-group-store.ts';
import type { ScimReader } from './scim-reader.ts';
import { externalIdOf } from './user-resource.ts';
import { type Conditions, requireMatch, withMeta } from './versioned.ts';

export interface ScimGroupsDeps {
  reader: ScimReader;
  store: ScimGroupStore;
  groups: GroupStore;
  /** Roles or grants of accounts changed. */
  onCredentialsChanged(change: CredentialChange): void;
}

type Member = { id: string; name: string };

export class ScimGroups {
  readonly #deps: ScimGroupsDeps;

  constructor(deps: ScimGroupsDeps) {
    this.#deps = deps;
  }

  list(query: ListQuery, caller: Principal): Promise<Resource> {
    return listResources(GROUP, this.#source(ownScope(caller)), query);
  }

  async get(id: string, projection: Projection, caller: Principal): Promise<Resource> {
    const scope = ownScope(caller);
    const row = (await this.#deps.groups.find(scope, id)) ?? throwGroupNotFound(id);
    const [resource] = await this.#resources(scope, [row], isWanted(projection, 'members'));
    return project(GROUP, resource ?? {}, projection);
  }

  async create(input: Resource, source: AuditSource): Promise<Resource> {
    const scope = ownScope(source.caller);
    const { changes, members = [] } = draftOf(readResource(GROUP, input));
    const row = newGroupRow(scope.tenant, changes.name ?? '', changes);
    const detail = { by: 'scim', name: row.name, members: members.length };
    const entry = auditEntry(source, { action: 'group.create', tenant: scope.tenant, target: row.id, detail });
    await this.#deps.store
      .add(scope, row, members, requireKnown, entry)
      .catch((error: unknown) => translateUniqueViolation(error, taken()));
    this.#deps.onCredentialsChanged({ tenant: source.caller.tenant, user: undefined, requestId: source.requestId });
    return this.get(row.id, EVERYTHING, source.caller);
  }

  /** Members that the resource does not list at all stay: a new name does not empty a group. */
  replace(id: string, input: Resource, conditions: Conditions, source: AuditSource): Promise<void> {
    const draft = draftOf(readResource(GROUP, input));
    return this.#update(id, () => draft, conditions, source);
  }

  patch(id: string, operations: readonly PatchOperation[], conditions: Conditions, source: AuditSource): Promise<void> {
    const change = (row: GroupRow, members: readonly string[]): GroupDraft => {
      const before = { ...writableGroup(row), members: members.map((value) => ({ value })) };
      const draft = draftOf(patched(GROUP, before, operations));
      return { ...draft, members: draft.members ?? [] };
    };
    return this.#update(id, change, conditions, source);
  }

  async remove(id: string, conditions: Conditions, source: AuditSource): Promise<void> {
    const check = (row: GroupRow): void => requireMatch(conditions, versionedGroup(row));
    const entry = auditEntry(source, { action: 'group.delete', target: id, detail: { by: 'scim' } });
    const isRemoved = await this.#deps.groups.remove(ownScope(source.caller), id, check, entry);
    this.#deps.onCredentialsChanged({ tenant: source.caller.tenant, user: undefined, requestId: source.requestId });
    if (!isRemoved) throwGroupNotFound(id);
  }

  async #update(
    id: string,
    change: (row: GroupRow, members: readonly string[]) => GroupDraft,
    conditions: Conditions,
    source: AuditSource,
  ): Promise<void> {
    const guarded = (row: GroupRow, members: readonly string[]): GroupDraft => {
      requireMatch(conditions, versionedGroup(row));
      return change(row, members);
    };
    const entry = auditEntry(source, { action: 'group.update', target: id, detail: { by: 'scim' } });
    const updated = await this.#deps.store
      .update(ownScope(source.caller), id, guarded, requireKnown, entry)
      .catch((error: unknown) => translateUniqueViolation(error, taken()));
    this.#deps.onCredentialsChanged({ tenant: source.caller.tenant, user: undefined, requestId: source.requestId });
    if (updated === undefined) throwGroupNotFound(id);
  }

  async #resources(scope: TenantScope, rows: readonly GroupRow[], withMembers: boolean): Promise<Resource[]> {
    const ids = rows.map(({ id }) => id);
    const memberships = withMembers ? await this.#deps.reader.memberships(scope, 'group_id', ids) : [];
    const byGroup = Map.groupBy(memberships, ({ groupId }) => groupId);
    return rows.map((row) =>
      groupResource(
        row,
        (byGroup.get(row.id) ?? []).map(({ userId, username }) => ({ id: userId, name: username })),
      ),
    );
  }

  #source(scope: TenantScope): ResourceSource<GroupRow> {
    const { reader } = this.#deps;
    return {
      count: () => reader.count(scope, 'identity_groups'),
      page: (offset, limit) => reader.page(scope, 'identity_groups', offset, limit),
      after: (row, limit) => reader.after(scope, 'identity_groups', row, limit),
      indexed: (wanted) => reader.indexed(scope, 'identity_groups', wanted),
      resources: (rows, wanted) => this.#resources(scope, rows, wanted('members')),
    };
  }
}

export const EVERYTHING: Projection = { attributes: undefined, excludedAttributes: undefined };
const MAX_NAME_LENGTH = 200;

function writableGroup({ name, external_id }: GroupRow): Resource {
  return { displayName: name, ...(external_id !== null && { externalId: external_id }) };
}

/** Members change the time of the group, and need not be read for its version. */
function versionedGroup(row: GroupRow): Resource {
  return { ...writableGroup(row), changed: row.updated_at };
}

function groupResource(row: GroupRow, members: readonly Member[]): Resource {
  const list = members.map(({ id, name }) => ({ value: id, $ref: `/scim/v2/Users/${id}`, display: name, type: 'User' }));
  const times = { created: timeOf(row.created_at), lastModified: timeOf(row.updated_at) };
  const resource = { schemas: [GROUP.core.urn], id: row.id, ...writableGroup(row), ...(list.length > 0 && { members: list }) };
  return withMeta(GROUP, resource, times, versionedGroup(row));
}

/** Throws invalidValue. */
function draftOf(resource: Resource): GroupDraft {
  const name = resource['displayName'];
  if (typeof name !== 'string' || name.trim() === '' || name.length > MAX_NAME_LENGTH) {
    throw invalidScim('invalidValue', `displayName must have 1 to ${MAX_NAME_LENGTH} characters.`);
  }
  const members = Array.isArray(resource['members']) ? [...new Set((resource['members'] as unknown[]).map(memberId))] : undefined;
  return { changes: { name, name_key: nameKey(name), external_id: externalIdOf(resource) }, members };
}

function memberId(member: unknown): string {
  const value = isObject(member) ? member['value'] : undefined;
  if (typeof value === 'string' && value !== '' && value.length <= 128) return value;
  throw invalidScim('invalidValue', 'A member needs the id of an account as its value.');
}

/** An account of another tenant is like one that does not exist. */
function requireKnown([unknown]: readonly string[]): void {
  if (unknown !== undefined)
    throw invalidScim('invalidValue', `There is no account ${unknown.slice(0, 64)} that could be a member.`);
}

function taken(): ReturnType<typeof identityError> {
  return identityError('group_exists', 'Another group of the tenant has this displayName.');
}
