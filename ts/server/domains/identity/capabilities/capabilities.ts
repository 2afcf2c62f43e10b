/** Capability tokens as their owners and administrators handle them. The text of a token is shown once, when it is made. */
import { hasRole, type Principal } from '../../../platform/http/principal.ts';
import { type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import { administeredScope, ownAccount, requireReach } from '../accounts/access-check.ts';
import { scopesBeyond } from '../accounts/scopes.ts';
import type { UserStore } from '../accounts/user-store.ts';
import { throwUserNotFound } from '../accounts/users.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import type { CredentialChange } from '../changes/credential-change.ts';
import type { RefusalReason } from '../credentials/refused-credential.ts';
import { identityError } from '../errors.ts';
import { newId } from '../secrets/base62.ts';
import type { CapabilityRow } from '../tables.ts';
import { MAX_BLOCKS, MAX_TOKEN_LENGTH } from './capability-limits.ts';
import { type CapabilityResolver, isOver, nearestRow, type OpenedToken } from './capability-resolver.ts';
import type { CapabilityStore } from './capability-store.ts';
import { deriveToken, type MadeToken, signToken } from './capability-token.ts';
import { readEnvelope } from './envelope.ts';
import { intersect, listsBeyond, type Predicates, type Restrictions } from './restrictions.ts';
import type { TenantKeys } from './tenant-keys.ts';

export interface WantedCapability {
  scopes: readonly string[] | undefined;
  expiresInSeconds: number | undefined;
  /** Names of things by their kind; a kind that is absent: any. */
  uses: Readonly<Record<string, readonly string[]>>;
}

export interface IssuedCapability {
  row: CapabilityRow;
  token: string;
}

interface CapabilityListing {
  after: string;
  limit: number;
  /** Id of an account; undefined: the caller's own. */
  userId: string | undefined;
}

interface CapabilitiesDeps {
  store: CapabilityStore;
  resolver: CapabilityResolver;
  keys: TenantKeys;
  predicates: Predicates;
  users: UserStore;
  /** A token ended. */
  onCredentialsChanged(change: CredentialChange): void;
}

export class Capabilities {
  readonly #deps: CapabilitiesDeps;

  constructor(deps: CapabilitiesDeps) {
    this.#deps = deps;
  }

  /** A token of the caller's account, which outlives the caller's key no longer than the key itself lives. */
  async create(wanted: WantedCapability & { scopes: readonly string[]; expiresInSeconds: number }, source: AuditSource) {
    const { caller } = source;
    const { scope, userId } = ownAccount(caller);
    requirePassable(wanted.scopes, caller);
    const id = newId('cap');
    const restrictions = { ...restrictionsOf(wanted), scopes: wanted.scopes, expiresAt: endOf(wanted.expiresInSeconds, caller) };
    const key = await this.#deps.keys.signingKey(scope.tenant, source);
    const facts = { tenant: scope.tenant, user: userId, capability: id };
    const made = await signToken(this.#deps.predicates, facts, restrictions, key);
    return this.#keep(made, rowOf({ id, userId, parentId: null }, scope, restrictions, made), 'capability.create', source);
  }

  /** What any holder can do offline as well; done here, the token has an id. */
  async derive(text: string, wanted: WantedCapability, source: AuditSource): Promise<IssuedCapability> {
    const opened = await this.#open(text, source.caller);
    const { token, key, bytes, nBlocks } = opened;
    const state = await this.#deps.resolver.stateOf(opened);
    if (isOver(state) || state.owner === undefined || state.owner.disabled === 1) throw refused('expired');
    if (nBlocks >= MAX_BLOCKS) throw tooLarge(`a token can be derived ${MAX_BLOCKS - 1} times`);
    const narrower = restrictionsOf(wanted);
    requireWithin(token.restrictions, narrower);
    const scope = tenantScope(key.tenant);
    const made = await deriveToken(this.#deps.predicates, bytes, key.public_key, narrower).catch((cause: unknown) => {
      throw identityError('invalid_capability', 'The token was sealed, so nothing can be derived from it.', { cause });
    });
    const all = { ...token.restrictions, ...intersect(token.restrictions, narrower) };
    const named = { id: newId('cap'), userId: token.user, parentId: nearestRow(token, state)?.id ?? null };
    return this.#keep(made, rowOf(named, scope, all, made), 'capability.derive', source);
  }

  async revokeToken(text: string, source: AuditSource): Promise<void> {
    const opened = await this.#open(text, source.caller);
    const { token, key } = opened;
    await this.#requireOwned(token.user, key.tenant, source.caller, () => refused('unknown_key'));
    const scope = tenantScope(key.tenant);
    const state = await this.#deps.resolver.stateOf(opened);
    const named = { id: newId('cap'), userId: token.user, parentId: nearestRow(token, state)?.id ?? null };
    const last = { text, revocationId: token.revocationIds.at(-1) ?? '' };
    await this.#revoke(rowOf(named, scope, token.restrictions, last), source);
  }

  async revokeById(id: string, source: AuditSource): Promise<void> {
    const row = await this.#deps.store.find(administeredScope(source.caller), id);
    if (row === undefined) throw notFound(id);
    await this.#requireOwned(row.user_id, row.tenant, source.caller, () => notFound(id));
    await this.#revoke(row, source);
  }

  /** The caller's own tokens, or for an administrator those of an account. */
  async list({ after, limit, userId }: CapabilityListing, caller: Principal): Promise<CapabilityRow[]> {
    if (userId === undefined || userId === caller.subject) {
      const own = ownAccount(caller);
      return this.#deps.store.list(own.scope, { after, limit, userId: own.userId });
    }
    const owner = hasRole(caller, 'admin') ? await this.#deps.users.find(administeredScope(caller), userId) : undefined;
    if (owner === undefined) return throwUserNotFound(userId);
    return this.#deps.store.list(tenantScope(owner.tenant), { after, limit, userId });
  }

  async #keep(made: MadeToken, row: CapabilityRow, action: string, source: AuditSource): Promise<IssuedCapability> {
    // Nothing is issued that would be refused.
    if (readEnvelope(made.text) === undefined) throw tooLarge(`a token has at most ${MAX_TOKEN_LENGTH} characters`);
    await this.#deps.store.add(tenantScope(row.tenant), row, entryOf(action, row, source));
    return { row, token: made.text };
  }

  async #revoke(row: CapabilityRow, source: AuditSource): Promise<void> {
    const isRevoked = await this.#deps.store.revoke(tenantScope(row.tenant), row, entryOf('capability.revoke', row, source));
    if (!isRevoked) throw notFound(row.id);
    this.#deps.onCredentialsChanged({ tenant: row.tenant, user: row.user_id, requestId: source.requestId });
  }

  /** A token of another tenant looks like one that nobody here signed. */
  async #open(text: string, caller: Principal): Promise<OpenedToken> {
    const opened = await this.#deps.resolver.open(text);
    if (typeof opened === 'string') throw refused(opened);
    const scope = administeredScope(caller);
    if ('tenant' in scope && scope.tenant !== opened.key.tenant) throw refused('unknown_key');
    return opened;
  }

  /** Owners revoke their tokens; administrators those of accounts whose role they reach. */
  async #requireOwned(userId: string, tenant: string, caller: Principal, missing: () => Error): Promise<void> {
    if (userId === caller.subject) return;
    if (!hasRole(caller, 'admin')) throw missing();
    const owner = await this.#deps.users.find(tenantScope(tenant), userId);
    if (owner !== undefined) requireReach(caller, owner.role);
  }
}

function restrictionsOf({ scopes, uses, expiresInSeconds }: WantedCapability): Restrictions {
  return {
    scopes: scopes && distinct(scopes),
    uses: Object.fromEntries(Object.entries(uses).map(([kind, names]) => [kind, distinct(names)])),
    ...(expiresInSeconds !== undefined && { expiresAt: endAfter(expiresInSeconds) }),
  };
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

/** A token made with a key ends no later than the key. Who signs in can always sign in again, so a session's end does not matter. */
function endOf(expiresInSeconds: number, { kind, expiresAt }: Principal): number {
  const wanted = endAfter(expiresInSeconds);
  return kind === 'key' && expiresAt !== undefined ? Math.min(wanted, Math.floor(expiresAt / 1000) * 1000) : wanted;
}

/** Tokens end at whole seconds. */
function endAfter(seconds: number): number {
  return Math.ceil(Date.now() / 1000 + seconds) * 1000;
}

function requirePassable(scopes: readonly string[], caller: Principal): void {
  const beyond = scopesBeyond(caller, scopes);
  if (beyond.length === 0) return;
  throw identityError('scope_beyond_caller', `The caller lacks the scopes ${beyond.join(', ')} and cannot pass them on.`);
}

function requireWithin(parent: Restrictions, narrower: Restrictions): void {
  const beyond = listsBeyond(parent, narrower);
  if (beyond.length === 0) return;
  throw identityError('beyond_parent', `The token to derive from lacks some of the ${beyond.join(' and ')}; ask for fewer.`);
}

function rowOf(
  { id, userId, parentId }: { id: string; userId: string; parentId: string | null },
  { tenant }: TenantScope,
  { scopes = [], uses = {}, expiresAt = 0 }: Restrictions,
  { revocationId }: MadeToken,
): CapabilityRow {
  return {
    tenant,
    id,
    revocation_id: revocationId,
    user_id: userId,
    parent_id: parentId,
    scopes: JSON.stringify(scopes),
    uses: JSON.stringify(uses),
    created_at: Date.now(),
    expires_at: expiresAt,
    revoked_at: null,
  };
}

function entryOf(action: string, row: CapabilityRow, source: AuditSource) {
  const { user_id: user, parent_id: parent, scopes, uses, expires_at } = row;
  const detail = { user, parent, scopes, ...(JSON.parse(uses) as object), expires_at };
  return auditEntry(source, { action, tenant: row.tenant, target: row.id, detail });
}

function refused(reason: RefusalReason): Error {
  return identityError('invalid_capability', 'The token is no capability that can be used here.', { extra: { reason } });
}

function notFound(id: string): Error {
  return identityError('capability_not_found', `There is no capability token ${id.slice(0, 64)}, or it is revoked already.`);
}

function tooLarge(why: string): Error {
  return identityError('capability_too_large', `The token would be too large: ${why}. Ask for less, or issue a new one.`);
}
