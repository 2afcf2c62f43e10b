/** Backends, routes and prices over HTTP. */
import type { Route as HttpRoute } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { cloudErrors } from './errors.ts';
import { PRICE_LIST } from './prices/price-list.ts';
import type { Prices } from './prices/prices.ts';
import type { CloudRoute } from './registry/backend-registry.ts';
import type { Checker } from './registry/checker.ts';
import type { LiveBackend } from './registry/live-backend.ts';
import * as schemas from './schemas.ts';
import type { CloudService } from './service.ts';
import type { Takeover } from './takeover.ts';

interface CloudRouteDeps {
  readonly service: CloudService;
  readonly checker: Checker;
  readonly prices: Prices;
  readonly takeover: Takeover;
  nodeId(): string;
}

const BACKENDS = '/api/v1/cloud/backends';
const ROUTES = '/api/v1/cloud/routes';
const PRICES = '/api/v1/cloud/prices';
const MAX_BODY_BYTES = 1024 * 1024;

const reading = routes({ tag: 'Cloud', auth: 'admin', errors: cloudErrors });
const writing = routes({ tag: 'Cloud', auth: 'admin', scope: 'cloud:write', errors: cloudErrors, maxBody: MAX_BODY_BYTES });
const local = routes({ tag: 'Cloud', auth: 'local', errors: cloudErrors });

export function cloudRoutes(deps: CloudRouteDeps): HttpRoute[] {
  return [...backendRoutes(deps), ...nameRoutes(deps), ...priceRoutes(deps)];
}

function backendRoutes({ service, checker, takeover, nodeId }: CloudRouteDeps): HttpRoute[] {
  const shown = (backend: LiveBackend) => backendBody(service, backend, nodeId());
  return [
    writing.post(BACKENDS, {
      summary: 'Register a backend on this node',
      description:
        'Its key is sealed, lies on this node alone and is sent to the origin of `base_url` alone. The provider is asked for its models in the background. ' +
        'Kinds that speak OpenAI’s API need no key.',
      body: schemas.NewBackend,
      status: 201,
      answer: schemas.Backend,
      errors: ['invalid_request', 'address_refused', 'key_required', 'backend_exists', 'key_unreadable'],
      handle: async ({ body }) => shown(await service.create(body)),
    }),
    reading.get(BACKENDS, {
      summary: 'Backends of this node',
      answer: schemas.BackendList,
      handle: () => ({ data: service.registry.backends.map(shown) }),
    }),
    reading.get(`${BACKENDS}/elsewhere`, {
      summary: 'Backends of other nodes of the database, which have their keys',
      answer: schemas.BackendsElsewhere,
      handle: async () => ({ data: await takeover.list() }),
    }),
    writing.post('/api/v1/cloud/takeover', {
      summary: 'Have this node take over the backends, routes and prices of a node that is lost',
      description:
        'Keys that this node cannot open are gone with that node: `key_present` is false until they are given again. What this node has already stays as it is.',
      body: schemas.TakeoverOrder,
      answer: schemas.TakenBackends,
      errors: ['node_is_running', 'backend_not_found'],
      handle: ({ body }) => takeover.take(body.node),
    }),
    reading.get(`${BACKENDS}/unconfigured-keys`, {
      summary: 'Variables of this node’s environment that look like providers’ keys and that no backend reads',
      answer: schemas.UnconfiguredKeys,
      handle: () => ({ data: service.unconfiguredKeys() }),
    }),
    local.get(`${BACKENDS}/public`, {
      summary: 'Which backends there are, what they offer and whether they work',
      answer: schemas.PublicBackends,
      handle: ({ caller }) => ({
        data: service.registry.backends
          .filter(({ facts }) => facts.options.tenants === null || facts.options.tenants.includes(caller.tenant))
          .map((backend) => ({
            id: backend.id,
            kind: backend.facts.kind,
            serving_state: backend.state(),
            models: [...backend.offered.keys()],
          })),
      }),
    }),
    reading.get(`${BACKENDS}/{id}`, {
      summary: 'One backend',
      params: schemas.BackendId,
      answer: schemas.Backend,
      errors: ['backend_not_found'],
      handle: ({ params }) => shown(service.get(params.id)),
    }),
    writing.patch(`${BACKENDS}/{id}`, {
      summary: 'Change a backend',
      description:
        'What is not named stays. Where the origin of `base_url` changes, the key is dropped: send `key` or `api_key_env` in the same request.',
      params: schemas.BackendId,
      body: schemas.BackendPatch,
      answer: schemas.Backend,
      errors: ['invalid_request', 'address_refused', 'key_required', 'backend_not_found', 'key_unreadable'],
      handle: async ({ params, body }) => shown(await service.update(params.id, body)),
    }),
    writing.del(`${BACKENDS}/{id}`, {
      summary: 'Delete a backend with its key',
      params: schemas.BackendId,
      errors: ['backend_not_found'],
      handle: async ({ params }) => {
        await service.remove(params.id);
      },
    }),
    writing.post(`${BACKENDS}/{id}/recheck`, {
      summary: 'Ask a backend for one token, to see whether it works',
      description: 'A backend that was left out because its provider refused the key is used again when the provider answers.',
      params: schemas.BackendId,
      answer: schemas.RecheckedBackend,
      errors: ['backend_not_found'],
      handle: async ({ params }) => {
        const recheck = await checker.recheck(service.get(params.id));
        return { ...shown(service.get(params.id)), recheck };
      },
    }),
  ];
}

function nameRoutes({ service }: CloudRouteDeps): HttpRoute[] {
  return [
    reading.get(ROUTES, {
      summary: 'Names of this node that stand for models of several backends',
      answer: schemas.RouteList,
      handle: () => ({ data: service.routes().map(([id, route]) => routeBody(id, route)) }),
    }),
    reading.get(`${ROUTES}/{id}`, {
      summary: 'One route',
      params: schemas.BackendId,
      answer: schemas.Route,
      errors: ['route_not_found'],
      handle: ({ params }) => routeBody(params.id, service.route(params.id)),
    }),
    writing.put(`${ROUTES}/{id}`, {
      summary: 'Set a route',
      params: schemas.BackendId,
      body: schemas.RouteChange,
      answer: schemas.Route,
      errors: ['invalid_request'],
      handle: async ({ params, body }) => routeBody(params.id, await service.putRoute(params.id, body)),
    }),
    writing.del(`${ROUTES}/{id}`, {
      summary: 'Delete a route',
      params: schemas.BackendId,
      errors: ['route_not_found'],
      handle: async ({ params }) => {
        await service.removeRoute(params.id);
      },
    }),
  ];
}

function priceRoutes({ service, prices }: CloudRouteDeps): HttpRoute[] {
  const list = () => {
    const own = Object.entries(prices.own).map(([model, price]) => ({ model, origin: 'own' as const, ...price }));
    const listed = Object.entries(PRICE_LIST).filter(([model]) => !Object.hasOwn(prices.own, model));
    const all = [...own, ...listed.map(([model, price]) => ({ model, origin: 'list' as const, ...price }))];
    return { data: all.sort((a, b) => (a.model < b.model ? -1 : 1)) };
  };
  return [
    reading.get(PRICES, {
      summary: 'What models of providers cost, for a million tokens',
      description:
        'The price that a backend itself has for a model goes before these, and what was set here goes before the list of this version.',
      answer: schemas.PriceList,
      handle: list,
    }),
    writing.put(PRICES, {
      summary: 'Set the prices of this node, in place of all that were set before',
      body: schemas.PriceChange,
      answer: schemas.PriceList,
      errors: ['invalid_request'],
      handle: async ({ body }) => {
        await service.replacePrices(body.prices as never);
        return list();
      },
    }),
  ];
}

function backendBody(service: CloudService, backend: LiveBackend, node: string) {
  const { facts, offered, checkedAt, reason } = backend;
  const { options } = facts;
  const row = service.registry.row(backend.id);
  const headers = Object.keys(JSON.parse(row?.sealed_headers ?? '{}') as object).map((name) => [name, 'set']);
  return {
    id: backend.id,
    kind: facts.kind,
    base_url: facts.baseUrl,
    preset: options.preset,
    api_version: options.apiVersion,
    region: options.region,
    api_key_env: row?.api_key_env ?? null,
    key_present: backend.hasKey,
    headers: Object.fromEntries(headers) as Record<string, string>,
    model_filter: {
      include: [...options.modelFilter.include],
      exclude: [...options.modelFilter.exclude],
      alias: { ...options.modelFilter.alias },
    },
    priority: options.priority,
    weight: options.weight,
    limits: { ...options.limits },
    timeouts: { ...options.timeouts },
    on_client_gone: options.onClientGone,
    tenants: options.tenants === null ? null : [...options.tenants],
    prices: options.prices as unknown as Record<string, Record<string, string>>,
    enabled: facts.isEnabled,
    serving_state: backend.state(),
    serving_state_reason: reason ?? null,
    models: [...offered].map(([id, { id: model }]) => ({ id, model, serving_state: backend.state(model) })),
    first_content_ms: backend.firstContentMs === undefined ? null : Math.round(backend.firstContentMs),
    node,
    created_at: new Date(facts.createdAt).toISOString(),
    checked_at: checkedAt === undefined ? null : new Date(checkedAt).toISOString(),
  };
}

function routeBody(id: string, { targets, strategy, fallbacks, hedge_ms }: CloudRoute) {
  return { id, targets: [...targets], strategy, fallbacks: [...fallbacks], hedge_ms };
}
