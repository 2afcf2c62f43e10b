/**
 * What groups leave to a caller. A tenant is open by default: everybody may use all models and knowledge bases. Where it is set to `granted`, an
 * account may use what its groups grant, and administrators everything.
 */
import type { AuthenticationState } from '../../../platform/http/authenticator.ts';
import { hasRole, type Principal } from '../../../platform/http/principal.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import type { Tenants } from '../accounts/tenants.ts';
import type { GroupRow } from '../tables.ts';
import type { GroupStore } from './group-store.ts';
import { type LimitSource, UNLIMITED, USE_KINDS, type UseKind, type UseLimit } from './use-limit.ts';

export interface GroupLimitsDeps {
  store: GroupStore;
  tenants: Tenants;
  state(): AuthenticationState;
  /** An older entry is read again; Infinity while every change by another process is heard of. */
  maxAgeMs(): number;
}

interface Entry {
  limit: UseLimit;
  loadedAt: number;
}

const MAX_ENTRIES = 10_000;
const NOTHING: readonly string[] = Object.freeze([]);

export class GroupLimits implements LimitSource {
  readonly #deps: GroupLimitsDeps;
  /** What the groups of an account grant, by its id. */
  readonly #granted = new Map<string, Entry>();
  /** Goes up with each `clear()`: what was read before it may be outdated when it arrives. */
  #version = 0;

  constructor(deps: GroupLimitsDeps) {
    this.#deps = deps;
  }

  limitOf(caller: Principal): UseLimit | Promise<UseLimit> {
    const { tenants, state } = this.#deps;
    const access = tenants.useAccess(caller.tenant);
    if (USE_KINDS.every((kind) => access[kind] === 'open')) return UNLIMITED;
    if (hasRole(caller, 'admin') || (caller.kind === 'anonymous' && state() === 'off')) return UNLIMITED;
    const granted = this.#grantedTo(caller);
    const within = (limit: UseLimit): UseLimit => byKind((kind) => (access[kind] === 'open' ? undefined : limit[kind]));
    return granted instanceof Promise ? granted.then(within) : within(granted);
  }

  /** Must be called when an account, a group or who is in it changed. */
  clear(): void {
    this.#version += 1;
    this.#granted.clear();
  }

  #grantedTo({ tenant, subject }: Principal): UseLimit | Promise<UseLimit> {
    if (subject === undefined) return byKind(() => NOTHING);
    const known = this.#granted.get(subject);
    if (known !== undefined && Date.now() - known.loadedAt < this.#deps.maxAgeMs()) return known.limit;
    return this.#read(tenant, subject);
  }

  async #read(tenant: string, subject: string): Promise<UseLimit> {
    const version = this.#version;
    const loadedAt = Date.now();
    const limit = limitOfGroups(await this.#deps.store.groupsOf(tenantScope(tenant), subject));
    if (version !== this.#version) return this.#read(tenant, subject);
    const [oldest] = this.#granted.size >= MAX_ENTRIES ? this.#granted.keys() : [];
    if (oldest !== undefined) this.#granted.delete(oldest);
    this.#granted.set(subject, { limit, loadedAt });
    return limit;
  }
}

function limitOfGroups(groups: readonly GroupRow[]): UseLimit {
  return byKind((kind) => [...new Set(groups.flatMap((group) => JSON.parse(group[kind]) as string[]))]);
}

function byKind(namesOf: (kind: UseKind) => readonly string[] | undefined): UseLimit {
  return Object.fromEntries(USE_KINDS.map((kind) => [kind, namesOf(kind)]));
}
