/** API keys as their owners and administrators handle them. The text of a key is shown once, when it is made. */
import { hasRole, type Principal } from '../../../platform/http/principal.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import { administeredScope, ownAccount, requireReach } from '../accounts/access-check.ts';
import { limitScopes, scopesBeyond, scopesOfRole } from '../accounts/scopes.ts';
import type { UserStore } from '../accounts/user-store.ts';
import { throwUserNotFound } from '../accounts/users.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import { identityError } from '../errors.ts';
import { newId } from '../secrets/base62.ts';
import { hashSecret } from '../secrets/secret-token.ts';
import type { ApiKeyRow, UserRow } from '../tables.ts';
import { newApiKey, startOfKey } from './api-key.ts';
import type { KeyNameRow, KeyPage, KeyStore, NamePage } from './key-store.ts';

interface NewKey {
  name: string;
  scopes: readonly string[] | undefined;
  expiresInSeconds: number | undefined;
  /** Id of the account that gets it; undefined: the caller's own. */
  userId: string | undefined;
}

interface IssuedKey {
  row: ApiKeyRow;
  /** The text of the key. */
  apiKey: string;
}

interface KeysDeps {
  store: KeyStore;
  users: UserStore;
  /** A key ended. */
  onCredentialsChanged(change: CredentialChange): void;
}

type KeyDetails = Pick<ApiKeyRow, 'name' | 'scopes' | 'expires_at'>;

const DEFAULT_NAME = 'default';

export class Keys {
  readonly #deps: KeysDeps;

  constructor(deps: KeysDeps) {
    this.#deps = deps;
  }

  async create({ name, scopes, expiresInSeconds, userId }: NewKey, source: AuditSource): Promise<IssuedKey> {
    requireLasting(source.caller);
    const owner = await this.#owner(userId, source.caller);
    const limited = limitOf(scopes, owner, source.caller);
    const expires_at = expiresInSeconds === undefined ? null : Date.now() + expiresInSeconds * 1000;
    const issued = issue(owner, { name, scopes: limited === undefined ? null : JSON.stringify(limited), expires_at });
    await this.#deps.store.add(tenantScope(owner.tenant), issued.row, entryOf('key.create', issued.row, source));
    return issued;
  }

  /** The caller's own keys, or for an administrator those of an account or of the tenant. */
  async list(page: KeyPage, caller: Principal): Promise<ApiKeyRow[]> {
    if (page.userId !== undefined && page.userId !== caller.subject) {
      const owner = await this.#owner(page.userId, caller);
      return this.#deps.store.list(tenantScope(owner.tenant), page);
    }
    const { scope, userId } = ownAccount(caller);
    return this.#deps.store.list(scope, { ...page, userId });
  }

  /** Of all accounts that the caller administers, with revoked ones: what the audit log shows them, too. */
  listNames(page: NamePage, caller: Principal): Promise<KeyNameRow[]> {
    return this.#deps.store.listNames(administeredScope(caller), page);
  }

  async revoke(id: string, source: AuditSource): Promise<void> {
    const key = await this.#deps.store.find(administeredScope(source.caller), id);
    const isReached = key !== undefined && key.revoked_at === null && (await this.#reaches(key, source.caller));
    const isRevoked =
      isReached && (await this.#deps.store.revoke(tenantScope(key.tenant), key, entryOf('key.revoke', key, source)));
    if (!isRevoked) throw keyNotFound(id);
    this.#deps.onCredentialsChanged({ tenant: key.tenant, user: key.user_id, requestId: source.requestId });
  }

  /**
   * Puts a new key of the same name, scopes and length of life in the place of an old one: of the one that is named, of the one that the request
   * was made with, or of the only one that the account has.
   */
  async rotate(userId: string | undefined, keyId: string | undefined, source: AuditSource): Promise<IssuedKey> {
    requireLasting(source.caller);
    const owner = await this.#owner(userId, source.caller);
    const own = source.caller.subject === owner.id && source.caller.kind === 'key' ? source.caller.keyId : undefined;
    const made = await this.#deps.store.rotate(
      tenantScope(owner.tenant),
      owner.id,
      (keys) => chooseKey(keys, keyId ?? own, keyId !== undefined),
      (old) => {
        if (old === undefined || old.id !== own) requirePassable(scopesOf(old, owner), source.caller);
        const issued = issue(owner, successorOf(old));
        return { ...issued, entry: entryOf('key.rotate', issued.row, source, { replaces: old?.id ?? null }) };
      },
    );
    this.#deps.onCredentialsChanged({ tenant: owner.tenant, user: owner.id, requestId: source.requestId });
    return made;
  }

  async #owner(userId: string | undefined, caller: Principal): Promise<UserRow> {
    if (userId === undefined || userId === caller.subject) {
      const own = ownAccount(caller);
      return (await this.#deps.users.find(own.scope, own.userId)) ?? throwUserNotFound(own.userId);
    }
    // For anybody but an administrator other accounts are not there.
    const owner = hasRole(caller, 'admin') ? await this.#deps.users.find(administeredScope(caller), userId) : undefined;
    if (owner === undefined) return throwUserNotFound(userId);
    requireReach(caller, owner.role);
    return owner;
  }

  async #reaches(key: ApiKeyRow, caller: Principal): Promise<boolean> {
    if (key.user_id === caller.subject) return true;
    // To anybody else the key must look like one that was never issued.
    if (!hasRole(caller, 'admin')) return false;
    return (await this.#owner(key.user_id, caller)).id === key.user_id;
  }
}

function issue(owner: UserRow, details: KeyDetails): IssuedKey {
  const apiKey = newApiKey();
  const row: ApiKeyRow = {
    tenant: owner.tenant,
    id: newId('key'),
    hash: hashSecret(apiKey),
    user_id: owner.id,
    start: startOfKey(apiKey),
    ...details,
    created_at: Date.now(),
    revoked_at: null,
    used_at: null,
  };
  return { row, apiKey };
}

/** What the new key is limited to; undefined: to its role. A credential that is limited itself passes its limits on. */
function limitOf(scopes: readonly string[] | undefined, owner: UserRow, caller: Principal): readonly string[] | undefined {
  if (scopes === undefined) return scopesBeyond(caller, scopesOfRole(owner.role)).length === 0 ? undefined : caller.scopes;
  requirePassable(scopes, caller);
  return scopes;
}

/** A key knows nothing of a capability's models, namespaces, end and parents, so it would be more than the capability. */
function requireLasting({ kind }: Principal): void {
  if (kind !== 'capability') return;
  throw identityError('scope_beyond_caller', 'A capability token makes no API keys; derive a narrower token from it instead.');
}

function requirePassable(scopes: readonly string[], caller: Principal): void {
  const beyond = scopesBeyond(caller, scopes);
  if (beyond.length === 0) return;
  throw identityError('scope_beyond_caller', `The caller lacks the scopes ${beyond.join(', ')} and cannot pass them on.`);
}

function scopesOf(key: ApiKeyRow | undefined, { role }: UserRow): readonly string[] {
  return limitScopes(role, key?.scopes ? (JSON.parse(key.scopes) as string[]) : undefined);
}

function successorOf(old: ApiKeyRow | undefined): KeyDetails {
  if (old === undefined) return { name: DEFAULT_NAME, scopes: null, expires_at: null };
  const lifeMs = old.expires_at === null ? null : old.expires_at - old.created_at;
  return { name: old.name, scopes: old.scopes, expires_at: lifeMs === null ? null : Date.now() + lifeMs };
}

function chooseKey(keys: readonly ApiKeyRow[], id: string | undefined, isNamed: boolean): ApiKeyRow | undefined {
  const found = keys.find((key) => key.id === id);
  if (found !== undefined) return found;
  if (isNamed) throw keyNotFound(id ?? '');
  if (keys.length <= 1) return keys[0];
  throw identityError('several_keys', `The account has ${keys.length} keys; name the one to replace with ?key_id=`);
}

function entryOf(action: string, row: ApiKeyRow, source: AuditSource, more: Record<string, unknown> = {}) {
  const detail = { user: row.user_id, name: row.name, scopes: row.scopes, ...more };
  return auditEntry(source, { action, tenant: row.tenant, target: row.id, detail });
}

function keyNotFound(id: string): Error {
  return identityError('key_not_found', `There is no API key ${id.slice(0, 64)}, or it is revoked already.`);
}
