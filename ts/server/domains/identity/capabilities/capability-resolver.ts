/** From the text of a capability token to whom it stands for, or to why it is refused. */
import type { Principal } from '../../../platform/http/principal.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import type { RefusalReason } from '../credentials/refused-credential.ts';
import { type Resolution, resolved } from '../credentials/resolved-credential.ts';
import type { CapabilityKeyRow, CapabilityRow } from '../tables.ts';
import type { CapabilityState, CapabilityStore } from './capability-store.ts';
import { type VerifiedToken, verifyToken } from './capability-token.ts';
import { readEnvelope } from './envelope.ts';
import type { Predicates, Restrictions } from './restrictions.ts';

export interface OpenedToken {
  bytes: Uint8Array;
  nBlocks: number;
  key: CapabilityKeyRow;
  token: VerifiedToken;
}

export class CapabilityResolver {
  readonly #store: CapabilityStore;
  readonly #predicates: Predicates;

  constructor(store: CapabilityStore, predicates: Predicates) {
    this.#store = store;
    this.#predicates = predicates;
  }

  async resolve(text: string): Promise<Resolution> {
    const opened = await this.open(text);
    if (typeof opened === 'string') return opened;
    const { token, key } = opened;
    const state = await this.stateOf(opened);
    if (isOver(state) || state.owner === undefined || state.owner.disabled === 1) return 'expired';
    const { scopes, expiresAt } = token.restrictions;
    const known = { id: nearestRow(token, state)?.id ?? token.capability, user_id: token.user };
    const owner = { ...state.owner, tenant: key.tenant };
    const now = Date.now();
    const validity = {
      scopes,
      limits: limitsOf(token.restrictions),
      revocationIds: token.revocationIds,
      expiresAt,
      idleMs: Number.POSITIVE_INFINITY,
      notedAt: now,
      now,
    };
    return resolved('capability', known, owner, validity);
  }

  /** Verifies what the token itself says; whether it was revoked, `stateOf()` tells. */
  async open(text: string): Promise<OpenedToken | RefusalReason> {
    const envelope = readEnvelope(text);
    if (envelope === undefined) return 'bad_encoding';
    const key = await this.#store.findKey(envelope.keyNumber);
    if (key === undefined) return 'unknown_key';
    const token = await verifyToken(this.#predicates, envelope.bytes, key.public_key);
    if (typeof token === 'string') return token;
    // Only a node of this database signs with the key, and never for another tenant.
    if (token.tenant !== key.tenant) return 'bad_signature';
    if (token.restrictions.expiresAt <= Date.now()) return 'expired';
    return { bytes: envelope.bytes, nBlocks: envelope.nBlocks, key, token };
  }

  stateOf({ key, token }: OpenedToken): Promise<CapabilityState> {
    return this.#store.findState(tenantScope(key.tenant), token.user, token.revocationIds);
  }
}

function limitsOf({ uses = {} }: Restrictions): Principal['limits'] {
  const limited = Object.entries(uses).flatMap(([kind, names]) => (names === undefined ? [] : [[kind, names] as const]));
  return limited.length === 0 ? undefined : Object.fromEntries(limited);
}

/** The token, or one that it was derived from, was revoked. */
export function isOver({ rows }: CapabilityState): boolean {
  return rows.some(({ revoked_at }) => revoked_at !== null);
}

/** The row of the token itself, or of the nearest parent that has one. */
export function nearestRow({ revocationIds }: VerifiedToken, { rows }: CapabilityState): CapabilityRow | undefined {
  const byRevocationId = new Map(rows.map((row) => [row.revocation_id, row]));
  const nearest = revocationIds.findLast((id) => byRevocationId.has(id));
  return nearest === undefined ? undefined : byRevocationId.get(nearest);
}
