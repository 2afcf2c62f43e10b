/** Invitations as administrators make them and guests use them. The token is shown once, when it is made. */
import type { Principal, Role } from '../../../platform/http/principal.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import { administeredScope, requireReach } from '../accounts/access-check.ts';
import { newUserRow } from '../accounts/new-user-row.ts';
import type { PasswordHasher } from '../accounts/password-hasher.ts';
import { requireStrongPassword } from '../accounts/password-rules.ts';
import type { Tenants } from '../accounts/tenants.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import { identityError, translateUniqueViolation } from '../errors.ts';
import { throwGroupNotFound } from '../groups/groups.ts';
import { newId } from '../secrets/base62.ts';
import { hashSecret, isWholeToken, newToken } from '../secrets/secret-token.ts';
import type { InvitationRow, UserRow } from '../tables.ts';
import type { InvitationStore } from './invitation-store.ts';

interface NewInvitation {
  role: Role;
  tenant: string | undefined;
  /** Ids of groups of the tenant. */
  groups: readonly string[];
  note: string;
  maxUses: number;
  expiresInSeconds: number;
}

interface IssuedInvitation {
  row: InvitationRow;
  token: string;
}

/** Who comes with the invitation. */
interface Guest {
  username: string;
  password: string;
  email: string | undefined;
  /** Undefined, or the tenant of the invitation. */
  tenant: string | undefined;
}

interface InvitationsDeps {
  store: InvitationStore;
  tenants: Tenants;
  hasher: PasswordHasher;
}

export class Invitations {
  readonly #deps: InvitationsDeps;

  constructor(deps: InvitationsDeps) {
    this.#deps = deps;
  }

  async create(asked: NewInvitation, source: AuditSource): Promise<IssuedInvitation> {
    const { role, groups, note, maxUses, expiresInSeconds } = asked;
    requireReach(source.caller, role);
    const tenant = await this.#deps.tenants.administered(asked.tenant, source.caller);
    const token = newToken('svci_');
    const now = Date.now();
    const row: InvitationRow = {
      tenant,
      id: newId('inv'),
      hash: hashSecret(token),
      note,
      role,
      groups: JSON.stringify([...new Set(groups)]),
      max_uses: maxUses,
      uses: 0,
      created_by: source.caller.subject ?? null,
      created_at: now,
      expires_at: now + expiresInSeconds * 1000,
    };
    const detail = { role, groups, max_uses: maxUses };
    const entry = auditEntry(source, { action: 'invitation.create', tenant, target: row.id, detail });
    const check = ([unknown]: readonly string[]): void => {
      if (unknown !== undefined) throwGroupNotFound(unknown);
    };
    await this.#deps.store.add(tenantScope(tenant), row, check, entry);
    return { row, token };
  }

  list(after: string, limit: number, caller: Principal): Promise<InvitationRow[]> {
    return this.#deps.store.list(administeredScope(caller), after, limit);
  }

  /** It works no longer. */
  async remove(id: string, source: AuditSource): Promise<void> {
    const entry = auditEntry(source, { action: 'invitation.delete', target: id });
    const isRemoved = await this.#deps.store.remove(administeredScope(source.caller), id, entry);
    if (!isRemoved) throw identityError('invitation_not_found', `There is no invitation ${id.slice(0, 64)}.`);
  }

  /** Makes the guest's account. */
  async redeem(token: string, guest: Guest, source: AuditSource): Promise<UserRow> {
    if (!isWholeToken('svci_', token)) throw invalidInvitation();
    const { username, password, email } = guest;
    requireStrongPassword(password, username);
    const passwordHash = await this.#deps.hasher.hash(password);
    const taken = identityError('name_taken', 'Another account has this name or this address; choose another.');
    const user = await this.#deps.store
      .redeem(hashSecret(token), Date.now(), ({ id, tenant, role }) => {
        if (guest.tenant !== undefined && guest.tenant !== tenant) {
          throw identityError('forbidden', 'The invitation is for another tenant than the one that was asked for.');
        }
        const row = newUserRow({ tenant, username, email, role, passwordHash });
        const said = { action: 'user.register', tenant, actor: `user:${row.id}`, target: row.id };
        return { row, entry: auditEntry(source, { ...said, detail: { username, role, invitation: id } }) };
      })
      .catch((error: unknown) => translateUniqueViolation(error, taken));
    if (user === undefined) throw invalidInvitation();
    return user;
  }
}

function invalidInvitation(): Error {
  const detail = 'The invitation was used up, withdrawn, has expired, or was never made. Ask for a new one.';
  return identityError('invalid_invitation', detail);
}
