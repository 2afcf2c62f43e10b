/** Accounts as resources of SCIM. */
import type { Principal } from '../../platform/http/principal.ts';
import type { AuditSource, ProvisionedUsers, UserRow, UserUpdate } from '../identity/index.ts';
import { type ListQuery, listResources } from './list-resources.ts';
import { type PatchOperation, patched } from './patch.ts';
import { USER } from './resource/kinds.ts';
import { type Resource, readResource } from './resource/resource.ts';
import { emailOf, userDraft, userResource, writableUser } from './user-resource.ts';
import { type Conditions, requireMatch } from './versioned.ts';

export class ScimUsers {
  readonly #users: ProvisionedUsers;

  constructor(users: ProvisionedUsers) {
    this.#users = users;
  }

  list(query: ListQuery, caller: Principal): Promise<Resource> {
    const resources = (rows: readonly UserRow[], isWanted: (name: string) => boolean) =>
      this.#resources(rows, isWanted('groups'), caller);
    return listResources(USER, { ...this.#users.rows(caller), resources }, query);
  }

  async get(id: string, caller: Principal): Promise<Resource> {
    return this.#resource(await this.#users.get(id, caller), caller);
  }

  async create(input: Resource, source: AuditSource): Promise<Resource> {
    return this.#resource(await this.#users.create(userDraft(readResource(USER, input)), source), source.caller);
  }

  /** What the resource does not say is cleared, but for `active` and the password, which stay. */
  replace(id: string, input: Resource, conditions: Conditions, source: AuditSource): Promise<Resource> {
    const given = readResource(USER, input);
    return this.#update(id, (before) => ({ active: before['active'], ...given }), conditions, source);
  }

  patch(id: string, operations: readonly PatchOperation[], conditions: Conditions, source: AuditSource): Promise<Resource> {
    return this.#update(id, (before) => patched(USER, before, operations), conditions, source);
  }

  remove(id: string, conditions: Conditions, source: AuditSource): Promise<void> {
    return this.#users.remove(id, (before) => requireMatch(conditions, writableUser(before)), source);
  }

  async #update(
    id: string,
    change: (before: Resource) => Resource,
    conditions: Conditions,
    source: AuditSource,
  ): Promise<Resource> {
    const drafted = (row: UserRow): UserUpdate => {
      const before = writableUser(row);
      requireMatch(conditions, before);
      const draft = userDraft(change(before));
      return { ...draft, hasNewEmail: draft.email !== emailOf(before) };
    };
    return this.#resource(await this.#users.update(id, drafted, source), source.caller);
  }

  async #resource(row: UserRow, caller: Principal): Promise<Resource> {
    const [resource] = await this.#resources([row], true, caller);
    return resource ?? {};
  }

  async #resources(rows: readonly UserRow[], withGroups: boolean, caller: Principal): Promise<Resource[]> {
    const ids = rows.map(({ id }) => id);
    const memberships = withGroups ? await this.#users.memberships(caller, ids) : [];
    const byUser = Map.groupBy(memberships, ({ userId }) => userId);
    return rows.map((row) => {
      const groups = byUser.get(row.id) ?? [];
      return userResource(
        row,
        groups.map(({ groupId, groupName }) => ({ id: groupId, name: groupName })),
      );
    });
  }
}
