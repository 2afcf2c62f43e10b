/** Groups as resources of SCIM. */
import type { Principal } from '../../platform/http/principal.ts';
import type { AuditSource, GroupDraft, GroupRow, ProvisionedGroups } from '../identity/index.ts';
import { type ListQuery, listResources } from './list-resources.ts';
import { type PatchOperation, patched } from './patch.ts';
import { GROUP } from './resource/kinds.ts';
import { isWanted, type Projection, project } from './resource/projection.ts';
import { isObject, type Resource, readResource } from './resource/resource.ts';
import { invalidScim } from './scim-error.ts';
import { externalIdOf } from './user-resource.ts';
import { type Conditions, requireMatch, withMeta } from './versioned.ts';

type Member = { id: string; name: string };
type Change = (row: GroupRow, members: readonly string[]) => GroupDraft;

export class ScimGroups {
  readonly #groups: ProvisionedGroups;

  constructor(groups: ProvisionedGroups) {
    this.#groups = groups;
  }

  list(query: ListQuery, caller: Principal): Promise<Resource> {
    const resources = (rows: readonly GroupRow[], wanted: (name: string) => boolean) =>
      this.#resources(rows, wanted('members'), caller);
    return listResources(GROUP, { ...this.#groups.rows(caller), resources }, query);
  }

  async get(id: string, projection: Projection, caller: Principal): Promise<Resource> {
    const row = await this.#groups.get(id, caller);
    const [resource] = await this.#resources([row], isWanted(projection, 'members'), caller);
    return project(GROUP, resource ?? {}, projection);
  }

  async create(input: Resource, source: AuditSource): Promise<Resource> {
    const id = await this.#groups.create(draftOf(readResource(GROUP, input)), source);
    return this.get(id, EVERYTHING, source.caller);
  }

  /** Members that the resource does not list at all stay: a new name does not empty a group. */
  replace(id: string, input: Resource, conditions: Conditions, source: AuditSource): Promise<void> {
    const draft = draftOf(readResource(GROUP, input));
    return this.#update(id, () => draft, conditions, source);
  }

  patch(id: string, operations: readonly PatchOperation[], conditions: Conditions, source: AuditSource): Promise<void> {
    const change: Change = (row, members) => {
      const before = { ...writableGroup(row), members: members.map((value) => ({ value })) };
      const draft = draftOf(patched(GROUP, before, operations));
      return { ...draft, members: draft.members ?? [] };
    };
    return this.#update(id, change, conditions, source);
  }

  remove(id: string, conditions: Conditions, source: AuditSource): Promise<void> {
    return this.#groups.remove(id, (row) => requireMatch(conditions, versionedGroup(row)), source);
  }

  #update(id: string, change: Change, conditions: Conditions, source: AuditSource): Promise<void> {
    const guarded: Change = (row, members) => {
      requireMatch(conditions, versionedGroup(row));
      return change(row, members);
    };
    return this.#groups.update(id, guarded, source);
  }

  async #resources(rows: readonly GroupRow[], withMembers: boolean, caller: Principal): Promise<Resource[]> {
    const ids = rows.map(({ id }) => id);
    const memberships = withMembers ? await this.#groups.memberships(caller, ids) : [];
    const byGroup = Map.groupBy(memberships, ({ groupId }) => groupId);
    return rows.map((row) => {
      const members = byGroup.get(row.id) ?? [];
      return groupResource(
        row,
        members.map(({ userId, username }) => ({ id: userId, name: username })),
      );
    });
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
  const times = { created: row.created_at, lastModified: row.updated_at };
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
  return { name, externalId: externalIdOf(resource), members };
}

function memberId(member: unknown): string {
  const value = isObject(member) ? member['value'] : undefined;
  if (typeof value === 'string' && value !== '' && value.length <= 128) return value;
  throw invalidScim('invalidValue', 'A member needs the id of an account as its value.');
}
