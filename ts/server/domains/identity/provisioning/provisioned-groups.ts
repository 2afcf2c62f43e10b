/** Groups as a directory provisions them, always those of the caller's own tenant. Roles and grants are given here, see groups/. */
import type { Principal } from '../../../platform/http/principal.ts';
import { ownScope } from '../accounts/access-check.ts';
import { nameKey } from '../accounts/account-name.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import { identityError, translateUniqueViolation } from '../errors.ts';
import type { GroupStore } from '../groups/group-store.ts';
import { newGroupRow, throwGroupNotFound } from '../groups/groups.ts';
import type { GroupRow } from '../tables.ts';
import type { DirectoryReader, DirectoryRows, Membership } from './directory-reader.ts';
import type { GroupWrites } from './group-writes.ts';

interface ProvisionedGroupsDeps {
  reader: DirectoryReader;
  writes: GroupWrites;
  groups: GroupStore;
  /** Roles or grants of accounts changed. */
  onCredentialsChanged(change: CredentialChange): void;
}

/** What a directory says of a group. */
export interface GroupDraft {
  name: string;
  externalId: string | null;
  /** Ids of accounts; undefined: they stay as they are. */
  members: readonly string[] | undefined;
}

export class ProvisionedGroups {
  readonly #deps: ProvisionedGroupsDeps;

  constructor(deps: ProvisionedGroupsDeps) {
    this.#deps = deps;
  }

  rows(caller: Principal): DirectoryRows<GroupRow> {
    return this.#deps.reader.rows(ownScope(caller), 'identity_groups');
  }

  /** The accounts in these groups. */
  memberships(caller: Principal, ids: readonly string[]): Promise<Membership[]> {
    return this.#deps.reader.memberships(ownScope(caller), 'group_id', ids);
  }

  async get(id: string, caller: Principal): Promise<GroupRow> {
    return (await this.#deps.groups.find(ownScope(caller), id)) ?? throwGroupNotFound(id);
  }

  /** Resolves to its id. */
  async create(draft: GroupDraft, source: AuditSource): Promise<string> {
    const scope = ownScope(source.caller);
    const { name, members = [] } = draft;
    const row = newGroupRow(scope.tenant, name, columnsOf(draft));
    const detail = { by: 'scim', name, members: members.length };
    const entry = auditEntry(source, { action: 'group.create', tenant: scope.tenant, target: row.id, detail });
    await this.#deps.writes
      .add(scope, row, members, requireKnown, entry)
      .catch((error: unknown) => translateUniqueViolation(error, taken()));
    this.#changed(source);
    return row.id;
  }

  /** `change` may throw. */
  async update(
    id: string,
    change: (row: GroupRow, members: readonly string[]) => GroupDraft,
    source: AuditSource,
  ): Promise<void> {
    const entry = auditEntry(source, { action: 'group.update', target: id, detail: { by: 'scim' } });
    const drafted = (row: GroupRow, members: readonly string[]) => {
      const draft = change(row, members);
      return { changes: columnsOf(draft), members: draft.members };
    };
    const updated = await this.#deps.writes
      .update(ownScope(source.caller), id, drafted, requireKnown, entry)
      .catch((error: unknown) => translateUniqueViolation(error, taken()));
    this.#changed(source);
    if (updated === undefined) throwGroupNotFound(id);
  }

  /** `check` may throw. */
  async remove(id: string, check: (row: GroupRow) => void, source: AuditSource): Promise<void> {
    const entry = auditEntry(source, { action: 'group.delete', target: id, detail: { by: 'scim' } });
    const isRemoved = await this.#deps.groups.remove(ownScope(source.caller), id, check, entry);
    this.#changed(source);
    if (!isRemoved) throwGroupNotFound(id);
  }

  #changed({ caller, requestId }: AuditSource): void {
    this.#deps.onCredentialsChanged({ tenant: caller.tenant, user: undefined, requestId });
  }
}

function columnsOf({ name, externalId }: GroupDraft) {
  return { name, name_key: nameKey(name), external_id: externalId };
}

/** An account of another tenant is like one that does not exist. */
function requireKnown([unknown]: readonly string[]): void {
  if (unknown === undefined) return;
  throw identityError('invalid_request', `There is no account ${unknown.slice(0, 64)} that could be a member.`);
}

function taken(): ReturnType<typeof identityError> {
  return identityError('group_exists', 'Another group of the tenant has this displayName.');
}
