/** Every route of the server against every kind of caller: which of them get in, as a table by policy. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CAPABILITY_SCOPES } from './domains/identity/accounts/scopes.ts';
import { identity } from './domains/identity/index.ts';
import { modules } from './modules.ts';
import { eventsMigrations } from './platform/events/index.ts';
import { newFolder } from './platform/files/test-support/new-folder.ts';
import { POLICIES, type PolicyName } from './platform/http/policy.ts';
import { json, type Route } from './platform/http/route.ts';
import { openTestBed, type TestBed } from './platform/http/test-support/test-bed.ts';
import { MetricsRegistry } from './platform/metrics/registry.ts';
import { migrationsOf } from './platform/module/module.ts';
import { ModuleHost } from './platform/module/module-host.ts';
import { noEvents, noJobs, scriptedNode, silentLog } from './platform/module/test-support/scripted-context.ts';
import { NO_LIMITS } from './platform/module/use-rules.ts';
import { SeriesRegistry } from './platform/series/series-registry.ts';
import { createStorage } from './platform/storage/index.ts';
import { loadNodeConfig } from './settings.ts';

/** Columns of the table. Before the first account: from the machine, through a proxy, at the public edge; then the same with it. */
const callers = [
  'off, from the machine',
  'off, from elsewhere',
  'off, public edge',
  'on, internal',
  'on, public edge',
  'viewer',
  'developer',
  'admin',
  'superadmin',
] as const;

const expected: Record<PolicyName, readonly number[]> = {
  open: [200, 200, 200, 200, 200, 200, 200, 200, 200],
  local: [200, 200, 401, 200, 401, 200, 200, 200, 200],
  viewer: [200, 200, 401, 401, 401, 200, 200, 200, 200],
  developer: [200, 200, 401, 401, 401, 403, 200, 200, 200],
  admin: [200, 401, 401, 401, 401, 403, 403, 200, 200],
  superadmin: [200, 401, 401, 401, 401, 403, 403, 403, 200],
};

/** The paths of rules 4 and 5 of the interface, and what stays open. */
const rules: Record<string, PolicyName> = {
  'GET /health': 'local',
  'GET /metrics': 'local',
  'GET /api/v1/system/version': 'local',
  'GET /api/v1/system/incidents': 'local',
  'GET /api/v1/license/health': 'local',
  'GET /api/v1/cloud/backends/public': 'local',
  'GET /api/v1/metering/quotas': 'admin',
  'GET /api/v1/cluster/topology': 'admin',
  'PUT /api/v1/cluster/nodes/{id}/roles/{role}': 'superadmin',
  'POST /api/v1/cluster/nodes/{id}/drain': 'superadmin',
  'POST /api/v1/cluster/nodes/{id}/resume': 'superadmin',
  'DELETE /api/v1/cluster/nodes/{id}': 'superadmin',
  'GET /api/v1/system/roles': 'admin',
  'PUT /api/v1/system/roles/{role}': 'superadmin',
  'GET /v1/models': 'open',
  'POST /v1/chat/completions': 'viewer',
  'POST /v1/embeddings': 'viewer',
  'POST /v1/cloud/embeddings': 'viewer',
  'POST /v1/inference/embeddings': 'viewer',
  'POST /v1/responses': 'viewer',
  'POST /v1/messages': 'viewer',
  'POST /v1/rerank': 'viewer',
};

/** These answer strangers, since they are how one gets a credential, or tell nothing. */
const openPaths = [
  'GET /livez',
  'GET /readyz',
  'GET /v1/models',
  'GET /docs',
  'GET /',
  'GET /chat',
  'GET /chat/',
  'GET /login',
  'GET /login/',
  'GET /admin',
  'GET /admin/',
  'GET /sandbox',
  'GET /sandbox/',
  'GET /assets/*',
  'GET /openapi.json',
  'POST /api/v1/auth/login',
  'POST /api/v1/auth/register',
  'POST /api/v1/auth/reset-password',
  'GET /api/v1/auth/methods',
  'GET /api/v1/auth/oidc/start',
  'GET /api/v1/auth/oidc/callback',
  'POST /api/v1/auth/reset-password/request',
  'GET /api/v1/tenants/{tenantId}/theme',
  'GET /api/v1/tenants/{tenantId}/branding/logo',
  'GET /.well-known/oauth-protected-resource/mcp',
  'GET /api/v1/tools/mcp-servers/{label}/oauth/client',
];

const elsewhere = { 'x-forwarded-for': '192.0.2.7' };
const password = 'correct horse battery';
const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

interface World {
  bed: TestBed;
  routes: readonly Route[];
  dataDir: string;
  status(route: Route, headers: Record<string, string>, isPublic?: boolean): Promise<number>;
  call(method: string, path: string, headers: Record<string, string>, body?: object): Promise<Record<string, unknown>>;
}

/** All modules of the program with their real routes; what a route would do is replaced, except for identity's own in `call`. */
async function openWorld(t: Test): Promise<World> {
  const folder = newFolder(t);
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const config = loadNodeConfig({ root: folder, environment: { SVC_DATA_DIR: dataDir } });
  const storage = createStorage({
    url: `sqlite:${join(dataDir, 'svc.db')}`,
    modules: [eventsMigrations, ...migrationsOf(modules)],
  });
  await storage.open();
  const tenants = { exists: async () => true, tokensPerMinute: () => undefined, allowsPriority: () => true };
  const node = { ...scriptedNode, dataDir };
  const platform = {
    node,
    log: silentLog,
    metrics: new MetricsRegistry(),
    storage,
    jobs: noJobs,
    events: noEvents,
    series: new SeriesRegistry(),
    tenants,
    uses: NO_LIMITS,
  };
  const host = await ModuleHost.create(modules, config, platform);
  await host.start([]);
  const accounts = host.find(identity);
  if (accounts === undefined) throw new Error('there is no identity module');
  const routes = host.routes;
  const stubs = await openTestBed(t, routes.map(stub), { authenticator: accounts.authenticator });
  const real = await openTestBed(t, routes, { authenticator: accounts.authenticator, recorder: accounts.recorder });
  t.teardown(async () => {
    await host.stop();
    await storage.close();
  });
  return {
    bed: stubs,
    routes,
    dataDir,
    status: async ({ method, path }, headers, isPublic = false) => {
      const url = (isPublic ? stubs.publicUrl : stubs.url) + path.replace(/\{\w+\}|\*$/g, 'x');
      return (await fetch(url, { method, headers })).status;
    },
    call: async (method, path, headers, body) => {
      const init = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(real.url + path, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        ...init,
      });
      return (await response.json()) as Record<string, unknown>;
    },
  };
}

function stub({ method, path, auth, scope, probe, tag, summary, responses }: Route): Route {
  const kept = { method, path, auth, maxBody: method === 'GET' ? 0 : 1000, tag, summary, responses, handle: () => json(200, {}) };
  return { ...kept, ...(scope !== undefined && { scope }), ...(probe !== undefined && { probe }) };
}

async function makeKeys(world: World): Promise<Record<string, string>> {
  const made = await world.call('POST', '/api/v1/auth/register', {}, { username: 'root', password });
  const as = { authorization: `Bearer ${made['token']}` };
  const keys: Record<string, string> = { session: String(made['token']) };
  for (const role of ['viewer', 'developer', 'admin', 'superadmin']) {
    const user = await world.call('POST', '/api/v1/identity/users', as, { username: role, role });
    const key = await world.call('POST', `/api/v1/identity/users/${user['id']}/api-key`, as);
    keys[role] = String(key['api_key']);
  }
  const revoked = await world.call('POST', '/api/v1/users/me/api-key', as);
  await world.call('POST', '/api/v1/users/me/api-key', { 'x-api-key': String(revoked['api_key']) });
  const limited = await world.call('POST', '/api/v1/identity/keys', as, { name: 'limited', scopes: ['knowledge:read'] });
  const capability = (scopes: readonly string[]) =>
    world.call('POST', '/api/v1/identity/capabilities', as, { scopes, expires_in_seconds: 3600 });
  const ended = await capability(['chat:use']);
  await world.call('POST', '/api/v1/identity/capabilities/revoke', as, { id: ended['id'] }).catch(() => undefined);
  return {
    ...keys,
    limited: String(limited['api_key']),
    revoked: String(revoked['api_key']),
    capability: String((await capability(CAPABILITY_SCOPES))['token']),
    endedCapability: String(ended['token']),
    limitedCapability: String((await capability(['knowledge:read']))['token']),
  };
}

t.test('the table of callers and policies holds for every route', async (t) => {
  const world = await openWorld(t);
  const { routes, status } = world;
  t.ok(routes.length > 40, `${routes.length} routes`);
  for (const [name, policy] of Object.entries(rules)) t.equal(routes.find((route) => nameOf(route) === name)?.auth, policy, name);
  const open = routes.filter(({ auth }) => auth === 'open').map(nameOf);
  t.strictSame(
    open.filter((name) => !openPaths.includes(name)),
    [],
    'what is open to everybody is listed here',
  );

  const rows = new Map<Route, number[]>();
  for (const route of routes) {
    rows.set(route, [await status(route, {}), await status(route, elsewhere), await status(route, {}, true)]);
  }
  const keys = await makeKeys(world);
  for (const route of routes) {
    const row = rows.get(route);
    row?.push(await status(route, {}), await status(route, {}, true));
    for (const role of ['viewer', 'developer', 'admin', 'superadmin']) {
      row?.push(await status(route, { 'x-api-key': keys[role] ?? '' }));
    }
    t.strictSame(row, expected[route.auth], `${nameOf(route)} (${route.auth}) for ${callers.join('; ')}`);
  }
});

t.test('on every route', async (t) => {
  const world = await openWorld(t);
  const { routes, status, bed } = world;
  const keys = await makeKeys(world);
  const local = readFileSync(join(world.dataDir, 'local-admin.token'), 'utf8');
  const probes = routes.filter(({ probe }) => probe === true);
  const guarded = routes.filter((route) => !probes.includes(route));
  t.test('a refused credential is 401 on both listeners, whatever it asks for', async (t) => {
    const refused = [
      ...[{ 'x-api-key': keys['revoked'] ?? '' }, { 'x-api-key': 'wrong' }, { authorization: 'Bearer wrong' }],
      ...[{ authorization: `Bearer ${keys['endedCapability']}` }, { 'x-api-key': keys['endedCapability'] ?? '' }],
    ];
    for (const route of guarded) {
      for (const headers of refused) {
        t.equal(await status(route, headers), 401, nameOf(route));
        t.equal(await status(route, headers, true), 401, nameOf(route));
      }
    }
  });
  t.test('each kind of good credential of a superadmin gets in, on both listeners', async (t) => {
    const good = [
      { 'x-api-key': keys['superadmin'] ?? '' },
      { authorization: `Bearer ${keys['superadmin']}` },
      { authorization: `Bearer ${keys['session']}` },
      { cookie: `svc_session=${keys['session']}` },
    ];
    for (const route of routes) {
      for (const headers of good) {
        t.equal(await status(route, headers), 200, nameOf(route));
        t.equal(await status(route, headers, true), 200, nameOf(route));
      }
      t.equal(await status(route, { authorization: `Bearer ${local}` }), 200, nameOf(route));
    }
  });
  t.test('a key of a superadmin that is limited to other scopes is refused where another one is needed', async (t) => {
    for (const route of guarded) {
      const needs = route.scope ?? POLICIES[route.auth].scope;
      const isFree = POLICIES[route.auth].leastRole === undefined || needs === undefined || needs === 'knowledge:read';
      t.equal(await status(route, { 'x-api-key': keys['limited'] ?? '' }), isFree ? 200 : 403, nameOf(route));
      t.equal(await status(route, { authorization: `Bearer ${keys['limitedCapability']}` }), isFree ? 200 : 403, nameOf(route));
      const isOpenToCapabilities = isFree || CAPABILITY_SCOPES.includes(needs);
      t.equal(await status(route, { 'x-api-key': keys['capability'] ?? '' }), isOpenToCapabilities ? 200 : 403, nameOf(route));
    }
    const free = guarded.filter(
      ({ auth, scope }) => POLICIES[auth].leastRole !== undefined && (scope ?? POLICIES[auth].scope) === undefined,
    );
    t.strictSame(free.map(nameOf).sort(), [
      'GET /api/v1/auth/whoami',
      'POST /api/v1/identity/capabilities/derive',
      'POST /api/v1/users/me/api-key',
    ]);
  });
  t.test('missing native paths cannot be told from others without a credential', async (t) => {
    for (const path of ['/api/v1/nothing', '/api/v1/identity/nothing', '/api/v1/system/nothing']) {
      t.equal((await fetch(bed.url + path)).status, 401, path);
      t.equal((await fetch(bed.publicUrl + path)).status, 401, path);
      t.equal((await fetch(bed.url + path, { headers: { 'x-api-key': keys['viewer'] ?? '' } })).status, 404, path);
    }
  });
});
