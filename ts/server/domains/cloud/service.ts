/** Backends as administrators handle them: what is registered is kept with its key sealed, and used at once. */
import { type AddressPolicy, UnsafeAddress } from '../../platform/network/address-policy.ts';
import { cloudError, invalidMember } from './errors.ts';
import type { KindName } from './kinds/kind.ts';
import { KINDS } from './kinds.ts';
import type { Price } from './prices/price.ts';
import type { Prices } from './prices/prices.ts';
import { defaultBackendOptions } from './registry/backend-options.ts';
import { type BackendRegistry, type CloudRoute, headerContext, keyContext } from './registry/backend-registry.ts';
import type { Checker } from './registry/checker.ts';
import type { BackendOptions, LiveBackend } from './registry/live-backend.ts';
import { isModelName } from './registry/model-filter.ts';
import type { BackendPatchBody, NewBackendBody, RouteChangeBody } from './schemas.ts';
import type { BackendRow, CloudStore } from './store.ts';

interface CloudServiceDeps {
  readonly store: CloudStore;
  readonly registry: BackendRegistry;
  readonly prices: Prices;
  readonly checker: Checker;
  readonly policy: AddressPolicy;
  readonly env: NodeJS.ProcessEnv;
}

const DEFAULT_URLS: Partial<Record<KindName, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  gemini: 'https://generativelanguage.googleapis.com',
};

/** Secrets of other things lie in the environment too: only what is named like a provider's key is read for one. */
const KEY_VARIABLE = /^(?!SVC_)[A-Z][A-Z0-9_]*_API_KEY$/;
const FIELD_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Fields that belong to the connection. */
const CONNECTION_FIELDS = new Set([
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export class CloudService {
  readonly #deps: CloudServiceDeps;

  constructor(deps: CloudServiceDeps) {
    this.#deps = deps;
  }

  get registry(): BackendRegistry {
    return this.#deps.registry;
  }

  async create({ id, kind, ...body }: NewBackendBody): Promise<LiveBackend> {
    const baseUrl = this.#checkedUrl(body.base_url ?? DEFAULT_URLS[kind], kind);
    const options = optionsOf(kind, defaultBackendOptions, body);
    requireKeyMembers(kind, body);
    if (this.#deps.registry.isOwn(id)) throw backendExists(id);
    const row = {
      id,
      kind,
      base_url: baseUrl,
      options: JSON.stringify(options),
      enabled: body.enabled === false ? 0 : 1,
      api_key_env: body.api_key_env ?? null,
      ...(await this.#seal(id, baseUrl, kind, body.key ?? undefined, body.headers ?? {})),
      models: null,
      checked_at: null,
      reason: null,
      created_at: Date.now(),
    };
    if (!(await this.#deps.store.add(row))) throw backendExists(id);
    return await this.#reloaded(id);
  }

  get(id: string): LiveBackend {
    const found = this.#deps.registry.find(id);
    if (found === undefined) throw notFound(id);
    return found;
  }

  async update(id: string, body: BackendPatchBody): Promise<LiveBackend> {
    const before = this.#row(id);
    const kind = before.kind as KindName;
    const baseUrl = body.base_url === undefined ? before.base_url : this.#checkedUrl(body.base_url, kind);
    const isMoved = new URL(baseUrl).origin !== new URL(before.base_url).origin;
    const hadKey = before.sealed_key !== null || before.api_key_env !== null;
    const namesKey = body.key !== undefined || body.api_key_env !== undefined;
    if (isMoved && hadKey && !namesKey) {
      const sentence = 'The key is for the address before. Send key or api_key_env for the new one in the same request.';
      throw cloudError('key_required', sentence, { param: 'key' });
    }
    if (namesKey) requireKeyMembers(kind, body);
    const options = optionsOf(kind, JSON.parse(before.options) as BackendOptions, body);
    const sealed = await this.#sealChanges(before, baseUrl, isMoved, body);
    const isNewKey = namesKey || isMoved;
    const changes: Partial<BackendRow> = {
      base_url: baseUrl,
      options: JSON.stringify(options),
      ...(body.enabled !== undefined && { enabled: body.enabled ? 1 : 0 }),
      ...sealed,
      // What was refused was refused to the key before.
      ...(isNewKey && { reason: null }),
      ...(isMoved && { models: null, checked_at: null }),
    };
    if (!(await this.#deps.store.update(id, changes))) throw notFound(id);
    return await this.#reloaded(id);
  }

  async remove(id: string): Promise<void> {
    this.#row(id);
    if (!(await this.#deps.store.remove(id))) throw notFound(id);
    await this.#deps.registry.reload();
  }

  /** Names of variables that look like providers' keys and that no backend of this node reads. */
  unconfiguredKeys(): string[] {
    const used = new Set(this.#deps.registry.rows.map(({ api_key_env }) => api_key_env));
    const named = Object.entries(this.#deps.env).filter(([name, value]) => KEY_VARIABLE.test(name) && value);
    return named
      .map(([name]) => name)
      .filter((name) => !used.has(name))
      .sort();
  }

  routes(): [id: string, route: CloudRoute][] {
    return [...this.#deps.registry.routes];
  }

  route(id: string): CloudRoute {
    const found = this.#deps.registry.routes.get(id);
    if (found === undefined) throw routeNotFound(id);
    return found;
  }

  async putRoute(
    id: string,
    { targets, strategy = 'priority', fallbacks = [], hedge_ms = null }: RouteChangeBody,
  ): Promise<CloudRoute> {
    if (!isModelName(id)) throw invalidMember('id', 'The name of a route must be one that a model could have.');
    for (const [index, { backend }] of targets.entries())
      if (this.#deps.registry.find(backend) === undefined)
        throw invalidMember(
          `targets[${index}].backend`,
          `targets[${index}].backend names ${backend}, which this node does not have.`,
        );
    if (fallbacks.includes(id)) throw invalidMember('fallbacks', 'A route cannot fall back to itself.');
    const route: CloudRoute = {
      targets: targets.map(({ weight = 1, priority = 0, ...target }) => ({ ...target, weight, priority })),
      strategy,
      fallbacks,
      hedge_ms,
    };
    await this.#deps.store.putRoute(id, JSON.stringify(route));
    await this.#deps.registry.reload();
    return route;
  }

  async removeRoute(id: string): Promise<void> {
    if (!(await this.#deps.store.removeRoute(id))) throw routeNotFound(id);
    await this.#deps.registry.reload();
  }

  async replacePrices(table: Readonly<Record<string, Price>>): Promise<void> {
    const rows = Object.entries(table).map(([model, price]) => ({ model, price: JSON.stringify(price) }));
    await this.#deps.store.replacePrices(rows);
    await this.loadPrices();
  }

  async loadPrices(): Promise<void> {
    const rows = await this.#deps.store.prices();
    this.#deps.prices.replace(Object.fromEntries(rows.map(({ model, price }) => [model, JSON.parse(price) as Price])));
  }

  #row(id: string): BackendRow {
    const row = this.#deps.registry.row(id);
    if (row === undefined) throw notFound(id);
    return row;
  }

  async #reloaded(id: string): Promise<LiveBackend> {
    await this.#deps.registry.reload();
    const backend = this.get(id);
    this.#deps.checker.checkSoon(id);
    return backend;
  }

  /** Names are judged where they are resolved, at each connection. */
  #checkedUrl(text: string | undefined, kind: KindName): string {
    if (text === undefined) throw invalidMember('base_url', `base_url is needed for the kind ${kind}.`);
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol))
      throw invalidMember('base_url', 'base_url must be an http or https address.');
    if (url.username !== '' || url.password !== '')
      throw cloudError('address_refused', 'base_url must have no name and no password in it: send the key as key.', {
        param: 'base_url',
      });
    if (url.search !== '' || url.hash !== '') throw invalidMember('base_url', 'base_url must have no query and no fragment.');
    const isBare = url.pathname === '/';
    if (!KINDS[kind].hasPath && !isBare) throw invalidMember('base_url', `base_url of the kind ${kind} has no path.`);
    if (KINDS[kind].hasPath && isBare)
      throw invalidMember('base_url', `base_url of the kind ${kind} carries its path, for example ${url.origin}/v1.`);
    try {
      this.#deps.policy.check(url);
    } catch (error) {
      if (!(error instanceof UnsafeAddress)) throw error;
      const remedy = 'Use an https address on the internet, or have an operator name the host in cloud.allowed_hosts.';
      throw cloudError('address_refused', `base_url: ${error.message}. ${remedy}`, { param: 'base_url' });
    }
    return withoutSlash(url.href);
  }

  async #seal(id: string, baseUrl: string, kind: KindName, key: string | undefined, headers: Readonly<Record<string, string>>) {
    requireFields(headers);
    if (key !== undefined) requireKeyForm(kind, key);
    if (key === undefined && Object.keys(headers).length === 0) return { sealed_key: null, sealed_headers: '{}' };
    const sealing = await this.#sealing();
    const sealed = Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      sealing.seal(value, headerContext(id, baseUrl, name.toLowerCase())),
    ]);
    return {
      sealed_key: key === undefined ? null : sealing.seal(key, keyContext(id, baseUrl)),
      sealed_headers: JSON.stringify(Object.fromEntries(sealed)),
    };
  }

  /** What is not named stays, unless it was for another address. */
  async #sealChanges(
    before: BackendRow,
    baseUrl: string,
    isMoved: boolean,
    body: BackendPatchBody,
  ): Promise<Partial<BackendRow>> {
    const { id, kind } = before;
    const { key, api_key_env: env, headers } = body;
    const sealed = await this.#seal(id, baseUrl, kind as KindName, key ?? undefined, headers ?? {});
    return {
      ...(key !== undefined && { sealed_key: sealed.sealed_key, ...(key !== null && { api_key_env: null }) }),
      ...(env !== undefined && { api_key_env: env, ...(env !== null && { sealed_key: null }) }),
      ...(isMoved && key === undefined && { sealed_key: null }),
      ...((headers !== undefined || isMoved) && { sealed_headers: sealed.sealed_headers }),
    };
  }

  #sealing() {
    return this.#deps.registry.sealingKey().catch((cause: unknown) => {
      throw cloudError('key_unreadable', 'The file sealing.key of this node cannot be read, so no key can be stored.', { cause });
    });
  }
}

/** The members of a body over what was there before. */
function optionsOf(kind: KindName, before: BackendOptions, body: BackendPatchBody): BackendOptions {
  const {
    preset,
    api_version,
    region,
    model_filter: filter,
    limits,
    timeouts,
    on_client_gone,
    tenants,
    prices,
    priority,
    weight,
  } = body;
  if (preset !== undefined && preset !== 'openai' && kind !== 'openai')
    throw invalidMember('preset', `The kind ${kind} has no presets.`);
  const options: BackendOptions = {
    preset: preset ?? before.preset,
    apiVersion: api_version ?? before.apiVersion,
    region: region ?? before.region,
    modelFilter: { ...before.modelFilter, ...filter },
    priority: priority ?? before.priority,
    weight: weight ?? before.weight,
    limits: { ...before.limits, ...limits },
    timeouts: { ...before.timeouts, ...timeouts },
    onClientGone: on_client_gone ?? before.onClientGone,
    tenants: tenants === undefined ? before.tenants : tenants,
    prices: (prices as BackendOptions['prices'] | undefined) ?? before.prices,
  };
  if (kind === 'azure' && !/^[\w-]+$/.test(options.apiVersion))
    throw invalidMember('api_version', 'api_version is needed for the kind azure, for example 2024-10-21.');
  if (kind === 'bedrock' && !/^[a-z]{2}(?:-[a-z]+)+-\d$/.test(options.region))
    throw invalidMember('region', 'region is needed for the kind bedrock, for example eu-central-1.');
  for (const [name, model] of Object.entries(options.modelFilter.alias)) {
    if (!isModelName(name))
      throw invalidMember(`model_filter.alias.${name}`, `model_filter.alias names ${name}, which is no name of a model.`);
    if (!isModelName(model))
      throw invalidMember(`model_filter.alias.${name}`, `model_filter.alias.${name} is no name of a model.`);
  }
  return options;
}

function requireKeyMembers(kind: KindName, { key, api_key_env: env }: Pick<BackendPatchBody, 'key' | 'api_key_env'>): void {
  if (key != null && env != null) throw invalidMember('api_key_env', 'Send only one of key and api_key_env.');
  if (env != null && !KEY_VARIABLE.test(env))
    throw invalidMember(
      'api_key_env',
      'api_key_env must be a name like PROVIDER_API_KEY: other variables are not read for a key.',
    );
  if (KINDS[kind].needsKey && key == null && env == null)
    throw cloudError('key_required', `The kind ${kind} needs a key: send key or api_key_env.`, { param: 'key' });
}

function requireKeyForm(kind: KindName, key: string): void {
  if (!/^[\x21-\x7e]+$/.test(key)) throw invalidMember('key', 'key must be visible ASCII without spaces.');
  if (kind === 'bedrock' && !/^[A-Z0-9]+:[^:]+(?::[^:]+)?$/.test(key))
    throw invalidMember('key', 'key of the kind bedrock is ID:SECRET or ID:SECRET:TOKEN.');
}

function requireFields(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!FIELD_NAME.test(name) || CONNECTION_FIELDS.has(name.toLowerCase()))
      throw invalidMember(`headers.${name}`, `headers.${name} cannot be set: it is no field, or belongs to the connection.`);
    if (!/^[\x20-\x7e]*$/.test(value)) throw invalidMember(`headers.${name}`, `headers.${name} must be visible ASCII.`);
  }
}

function backendExists(id: string) {
  const sentence = `This node has a backend of the id ${id}; change it with PATCH, or take another name.`;
  return cloudError('backend_exists', sentence, { param: 'id' });
}

function notFound(id: string) {
  return cloudError('backend_not_found', `This node has no backend ${id.slice(0, 64)}.`);
}

function routeNotFound(id: string) {
  return cloudError('route_not_found', `This node has no route ${id.slice(0, 200)}.`);
}

function withoutSlash(address: string): string {
  return address.endsWith('/') ? withoutSlash(address.slice(0, -1)) : address;
}
