/** The backends of this node in use, and the names that all of them together offer. */
import type { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import type { AddressPolicy } from '../../../platform/network/address-policy.ts';
import type { ServingReason } from '../../inference/index.ts';
import type { KindName, ListedModel } from '../kinds/kind.ts';
import { groupByPriority, type Plan, type Strategy, type Target } from '../routing/target.ts';
import type { BackendRow, CloudStore } from '../store.ts';
import { type BackendOptions, LiveBackend, type LiveBackendFacts } from './live-backend.ts';
import { type AttachedBackend, type OwnServer, ownBackend, toldState } from './own-server.ts';

interface RouteTarget {
  readonly backend: string;
  readonly model: string;
  readonly weight: number;
  readonly priority: number;
}

export interface CloudRoute {
  readonly targets: readonly RouteTarget[];
  readonly strategy: Strategy;
  /** Names of models, remote or of this node. */
  readonly fallbacks: readonly string[];
  readonly hedge_ms: number | null;
}

interface BackendRegistryDeps {
  readonly store: CloudStore;
  readonly policy: AddressPolicy;
  readonly userAgent: string;
  readonly env: NodeJS.ProcessEnv;
  nodeId(): string;
  sealingKey(): Promise<SealingKey>;
  /** What is offered was read anew. */
  onReloaded?(): void;
}

export class BackendRegistry {
  readonly #deps: BackendRegistryDeps;
  #rows: readonly BackendRow[] = [];
  readonly #backends = new Map<string, LiveBackend>();
  /** Servers of this node, which have no row. */
  readonly #own = new Map<string, LiveBackend>();
  #routes = new Map<string, CloudRoute>();
  /** Of other nodes on the same database: what they offer and this node has no key for. */
  #elsewhere: readonly LiveBackend[] = [];
  #sealing: SealingKey | undefined;
  /** Undefined: what is offered has changed since. */
  #names: ReadonlyMap<string, readonly Target[]> | undefined;

  constructor(deps: BackendRegistryDeps) {
    this.#deps = deps;
  }

  get backends(): readonly LiveBackend[] {
    return [...this.#own.values(), ...this.#backends.values()];
  }

  get routes(): ReadonlyMap<string, CloudRoute> {
    return this.#routes;
  }

  /** Nothing is registered, on no node. */
  get isEmpty(): boolean {
    return this.#rows.length === 0 && this.#routes.size === 0 && this.#own.size === 0;
  }

  find(id: string): LiveBackend | undefined {
    return this.#own.get(id) ?? this.#backends.get(id);
  }

  isOwn(id: string): boolean {
    return this.#own.has(id);
  }

  /** Offers a server of this node until it is detached. */
  attach(server: OwnServer): AttachedBackend {
    const changed = (): void => {
      this.#names = undefined;
    };
    const { backend, begin } = ownBackend(server, this.#deps.userAgent, changed);
    this.#own.set(server.id, backend);
    changed();
    return {
      begin,
      setState: (problem) => toldState(backend, problem),
      detach: async () => {
        this.#own.delete(server.id);
        changed();
        await backend.close();
      },
    };
  }

  row(id: string): BackendRow | undefined {
    return this.#rows.find((row) => row.id === id && row.node === this.#deps.nodeId());
  }

  get rows(): readonly BackendRow[] {
    return this.#rows.filter(({ node }) => node === this.#deps.nodeId());
  }

  /** The seal of this node's secrets. Throws where its file cannot be read. */
  async sealingKey(): Promise<SealingKey> {
    this.#sealing ??= await this.#deps.sealingKey();
    return this.#sealing;
  }

  /** Reads all of it anew. */
  async reload(): Promise<void> {
    const { store, nodeId } = this.#deps;
    const [rows, routes] = await Promise.all([store.backends(), store.routes()]);
    // Nothing that is kept here needs the key, where there is none yet.
    if (
      rows.some(({ node, sealed_key, sealed_headers }) => node === nodeId() && (sealed_key !== null || sealed_headers !== '{}'))
    )
      await this.sealingKey().catch(() => undefined);
    const before = this.#rows;
    this.#rows = rows;
    this.#routes = new Map(routes.map(({ id, route }) => [id, JSON.parse(route) as CloudRoute]));
    const own = this.rows;
    for (const [id, backend] of this.#backends) if (!own.some((row) => row.id === id)) await this.#drop(id, backend);
    for (const row of own) {
      const was = before.find(({ node, id }) => node === row.node && id === row.id);
      if (was === undefined || !isSame(was, row)) await this.#replace(row);
    }
    this.#elsewhere = rows
      .filter(({ node }) => node !== nodeId())
      .map((row) => this.#make({ ...row, sealed_key: null, api_key_env: null }, true));
    this.#names = undefined;
    this.#deps.onReloaded?.();
  }

  async close(): Promise<void> {
    for (const [id, backend] of this.#backends) await this.#drop(id, backend);
    this.#rows = [];
    this.#names = undefined;
  }

  /** Everything that is offered, by name, with the backends that have it, those of the smaller priority first. */
  names(): ReadonlyMap<string, readonly Target[]> {
    this.#names ??= this.#readNames();
    return this.#names;
  }

  /** Names of models, of which each has a target that a test holds for. */
  namesThat(holds: (target: Target) => boolean): string[] {
    const names = [...this.names()].filter(([, targets]) => targets.some(holds));
    return names.map(([name]) => name).slice(0, MOST_NAMED);
  }

  #readNames(): Map<string, Target[]> {
    const names = new Map<string, Target[]>();
    for (const backend of [...this.backends, ...this.#elsewhere]) {
      for (const [name, { id }] of backend.offered) {
        const target = targetOf(backend, id);
        const known = names.get(name);
        if (known === undefined) names.set(name, [target]);
        else known.push(target);
      }
    }
    for (const targets of names.values()) targets.sort((a, b) => a.priority - b.priority);
    for (const [name, route] of this.#routes) names.set(name, this.#routeTargets(route));
    return names;
  }

  /** Where a request for a name goes, for a tenant. */
  plan(name: string, tenant: string): Plan {
    const route = this.#routes.get(name);
    const strategy = route?.strategy ?? 'weighted';
    if (route === undefined)
      return { groups: groupByPriority(this.#named(name, tenant)), strategy, local: [], hedgeMs: undefined };
    const groups = groupByPriority(this.#routeTargets(route).filter((target) => mayUse(target, tenant)));
    const local: string[] = [];
    for (const fallback of route.fallbacks) {
      const targets = this.#named(fallback, tenant);
      if (targets.length > 0) groups.push(...groupByPriority(targets));
      else local.push(fallback);
    }
    return { groups, strategy, local, hedgeMs: route.hedge_ms ?? undefined };
  }

  #named(name: string, tenant: string): Target[] {
    const targets = this.backends.flatMap((backend) => {
      const model = backend.offered.get(name);
      return model === undefined ? [] : [targetOf(backend, model.id)];
    });
    return targets.filter((target) => mayUse(target, tenant));
  }

  #routeTargets({ targets }: CloudRoute): Target[] {
    return targets.flatMap(({ backend: id, model, weight, priority }) => {
      const backend = this.find(id);
      return backend === undefined ? [] : [{ backend, model: backend.offered.get(model)?.id ?? model, weight, priority }];
    });
  }

  async #replace(row: BackendRow): Promise<void> {
    const before = this.#backends.get(row.id);
    const made = this.#make(row, false);
    if (before !== undefined && before.facts.baseUrl === row.base_url) made.inherit(before);
    this.#backends.set(row.id, made);
    // Answers that it has begun go on: their connections end with them.
    if (before !== undefined) setTimeout(() => void before.close(), CLOSE_AFTER_MS).unref();
  }

  async #drop(id: string, backend: LiveBackend): Promise<void> {
    this.#backends.delete(id);
    await backend.close();
  }

  #make(row: BackendRow, isElsewhere: boolean): LiveBackend {
    const facts: LiveBackendFacts = {
      id: row.id,
      kind: row.kind as KindName,
      baseUrl: row.base_url,
      options: JSON.parse(row.options) as BackendOptions,
      isEnabled: row.enabled === 1 && !isElsewhere,
      createdAt: row.created_at,
      key: () => this.#keyOf(row),
      hasSealedKey: row.sealed_key !== null,
      headers: isElsewhere ? {} : this.#headersOf(row),
      models: row.models === null ? undefined : (JSON.parse(row.models) as ListedModel[]),
      checkedAt: row.checked_at ?? undefined,
      reason: row.reason === null ? undefined : (JSON.parse(row.reason) as ServingReason),
    };
    const { policy, userAgent } = this.#deps;
    return new LiveBackend(facts, { policy, userAgent, onListed: () => (this.#names = undefined) });
  }

  #keyOf({ id, base_url, sealed_key, api_key_env }: BackendRow): string | undefined {
    if (api_key_env !== null) return this.#deps.env[api_key_env] || undefined;
    if (sealed_key === null || this.#sealing === undefined) return undefined;
    return this.#sealing.unseal(sealed_key, keyContext(id, base_url));
  }

  #headersOf({ id, base_url, sealed_headers }: BackendRow): Record<string, string> {
    const sealed = Object.entries(JSON.parse(sealed_headers) as Record<string, string>);
    const seal = this.#sealing;
    if (seal === undefined) return {};
    return Object.fromEntries(sealed.map(([name, value]) => [name, seal.unseal(value, headerContext(id, base_url, name))]));
  }
}

const MOST_NAMED = 20;
const CLOSE_AFTER_MS = 30 * 60_000;

function targetOf(backend: LiveBackend, model: string): Target {
  const { priority, weight } = backend.facts.options;
  return { backend, model, priority, weight };
}

function mayUse({ backend }: Target, tenant: string): boolean {
  const { tenants } = backend.facts.options;
  return tenants === null || tenants.includes(tenant);
}

/** What was learned since is no change. */
function isSame(a: BackendRow, b: BackendRow): boolean {
  return (['kind', 'base_url', 'options', 'enabled', 'sealed_key', 'api_key_env', 'sealed_headers'] as const).every(
    (name) => a[name] === b[name],
  );
}

/** A secret is for one backend at one origin: where either is another, it opens no more. */
export function keyContext(id: string, baseUrl: string): string {
  return `cloud key of ${id} for ${new URL(baseUrl).origin}`;
}

export function headerContext(id: string, baseUrl: string, name: string): string {
  return `cloud header ${name} of ${id} for ${new URL(baseUrl).origin}`;
}
