/**
 * What groups leave to a caller. A tenant is open by default: everybody may use all things of a kind. Where it is set to `granted`, an account may
 * use what its groups grant, and administrators everything.
 */
import { hasRole, type Principal } from '../../../platform/http/principal.ts';
import { anyName, type NameFilter, type UseKind, type UseRules } from '../../../platform/module/use-rules.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import { matchesAny } from '../../../platform/text/name-pattern.ts';
import type { Tenants } from '../accounts/tenants.ts';
import type { AuthenticationSwitch } from '../identity-authenticator.ts';
import { type GroupStore, grantsOf } from './group-store.ts';

/** The names that may be used, by kind, in which `*` stands for any characters; a kind that is absent: any name. */
export type UseLimit = Readonly<Record<string, readonly string[] | undefined>>;

const UNLIMITED: UseLimit = Object.freeze({});

/** One kind of restriction, for example the groups of an account, or what a token was narrowed to. */
interface LimitSource {
  limitOf(caller: Principal): UseLimit | Promise<UseLimit>;
}

/** Lets a name be used when every restriction allows it. */
export class LimitIntersection implements UseRules {
  readonly #kinds: ReadonlySet<string>;
  readonly #sources: readonly LimitSource[];

  constructor(kinds: readonly UseKind[], sources: readonly LimitSource[]) {
    this.#kinds = new Set(kinds.map(({ name }) => name));
    this.#sources = sources;
  }

  /** Answers at once where no source has to read anything: most requests wait for nothing. */
  of(caller: Principal, kind: string): NameFilter | Promise<NameFilter> {
    if (!this.#kinds.has(kind)) throw new RangeError(`nothing is limited by ${kind}`);
    const limits = this.#sources.map((source) => source.limitOf(caller));
    const isKnown = (limit: UseLimit | Promise<UseLimit>): limit is UseLimit => !(limit instanceof Promise);
    return limits.every(isKnown) ? intersect(limits, kind) : Promise.all(limits).then((known) => intersect(known, kind));
  }
}

function intersect(limits: readonly UseLimit[], kind: string): NameFilter {
  const lists = limits.flatMap((limit) => (limit[kind] === undefined ? [] : [limit[kind]]));
  return lists.length === 0 ? anyName : (name) => lists.every((patterns) => matchesAny(patterns, name));
}

/** The limits of a credential itself, as capability tokens have them. */
export const credentialLimits: LimitSource = {
  limitOf: ({ limits = UNLIMITED }) => limits,
};

interface GroupLimitsDeps {
  kinds: readonly UseKind[];
  store: GroupStore;
  tenants: Tenants;
  authentication: Pick<AuthenticationSwitch, 'state'>;
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
    const { tenants, authentication } = this.#deps;
    const limited = tenants.grantedKinds(caller.tenant);
    if (limited.size === 0) return UNLIMITED;
    if (hasRole(caller, 'admin') || (caller.kind === 'anonymous' && authentication.state === 'off')) return UNLIMITED;
    const granted = this.#grantedTo(caller);
    const within = (limit: UseLimit): UseLimit => this.#byKind((kind) => (limited.has(kind) ? limit[kind] : undefined));
    return granted instanceof Promise ? granted.then(within) : within(granted);
  }

  /** Must be called when an account, a group or who is in it changed. */
  clear(): void {
    this.#version += 1;
    this.#granted.clear();
  }

  #grantedTo({ tenant, subject }: Principal): UseLimit | Promise<UseLimit> {
    if (subject === undefined) return this.#byKind(() => NOTHING);
    const known = this.#granted.get(subject);
    if (known !== undefined && Date.now() - known.loadedAt < this.#deps.maxAgeMs()) return known.limit;
    return this.#read(tenant, subject);
  }

  async #read(tenant: string, subject: string): Promise<UseLimit> {
    const version = this.#version;
    const loadedAt = Date.now();
    const grants = (await this.#deps.store.groupsOf(tenantScope(tenant), subject)).map(grantsOf);
    const limit = this.#byKind((kind) => [...new Set(grants.flatMap((granted) => granted[kind] ?? []))]);
    if (version !== this.#version) return this.#read(tenant, subject);
    const [oldest] = this.#granted.size >= MAX_ENTRIES ? this.#granted.keys() : [];
    if (oldest !== undefined) this.#granted.delete(oldest);
    this.#granted.set(subject, { limit, loadedAt });
    return limit;
  }

  #byKind(namesOf: (kind: string) => readonly string[] | undefined): UseLimit {
    return Object.fromEntries(this.#deps.kinds.map(({ name }) => [name, namesOf(name)]));
  }
}
