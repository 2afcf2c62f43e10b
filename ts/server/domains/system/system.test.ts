import t, { type Test } from 'tap';
import { openTestBed } from '../../platform/http/test-support/test-bed.ts';
import { MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { HealthReport } from '../../platform/module/module.ts';
import type { ModuleName } from '../../platform/module/module-names.ts';
import { scriptedContext, scriptedNode } from '../../platform/module/test-support/scripted-context.ts';
import type { Node, RoleState } from '../../platform/node/node.ts';
import { system } from './index.ts';

async function open(t: Test, changes: Partial<Node> = {}) {
  const metrics = new MetricsRegistry();
  metrics.gauge('shown', 'Shown.').with().set(3);
  const context = scriptedContext({ spec: {}, node: { ...scriptedNode, ...changes }, metrics });
  const { routes } = await system.create(context);
  const bed = await openTestBed(t, routes);
  return async (path: string, base = bed.url, init: RequestInit = {}) => {
    const response = await fetch(base + path, init);
    return { status: response.status, headers: response.headers, text: await response.text(), bed };
  };
}

t.test('a node that is well', async (t) => {
  const ask = await open(t);
  t.match(JSON.parse((await ask('/health')).text), {
    status: 'ok',
    version: '1.2.3',
    auth: 'off',
    uptime_seconds: Number,
    module_map: { size: 1, age_seconds: 0, stale: false },
    reasons: [],
  });
  t.strictSame((await ask('/livez')).text, '{"status":"alive"}');
  t.strictSame((await ask('/readyz')).text, '{"status":"ready"}');
  t.match(JSON.parse((await ask('/api/v1/system/version')).text), { version: '1.2.3' });
});

t.test('while the model loads and while the node drains, readyz is 503 with the reason and livez is 200', async (t) => {
  for (const [code, status] of [
    ['model_loading', 'loading'],
    ['draining', 'draining'],
  ] as const) {
    const ask = await open(t, { notReady: () => ({ code, detail: 'Why.' }) });
    const ready = await ask('/readyz');
    t.equal(ready.status, 503);
    t.strictSame(JSON.parse(ready.text), { error: code, detail: 'Why.', path: '/readyz' });
    t.equal(ready.headers.get('retry-after'), '1');
    t.equal((await ask('/livez')).status, 200);
    t.equal((JSON.parse((await ask('/health')).text) as { status: string }).status, status);
  }
});

t.test('modules add their state and their reasons', async (t) => {
  const report: HealthReport = {
    state: { models_loaded: 0 },
    reasons: [{ code: 'cpu_lacks_avx2', detail: 'No AVX2.' }],
  };
  const ask = await open(t, { health: async () => new Map<ModuleName, HealthReport>([['inference', report]]) });
  const health = JSON.parse((await ask('/health')).text);
  t.match(health, {
    status: 'degraded',
    inference: { models_loaded: 0 },
    reasons: [{ code: 'cpu_lacks_avx2', detail: 'No AVX2.' }],
  });
});

t.test('a missing data role is a reason but no defect', async (t) => {
  const health = JSON.parse((await (await open(t, { modules: () => ['system'] }))('/health')).text);
  t.match(health, { status: 'ok', reasons: [{ code: 'no_data_role' }] });
});

t.test('metrics are text for Prometheus', async (t) => {
  const { headers, text } = await (await open(t))('/metrics');
  t.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  t.match(text, /^shown 3$/m);
});

t.test('the public edge shows probes alone without a login', async (t) => {
  const ask = await open(t);
  const { bed } = await ask('/livez');
  for (const path of ['/health', '/metrics', '/api/v1/system/version'])
    t.equal((await ask(path, bed.publicUrl)).status, 401, path);
  for (const path of ['/livez', '/readyz']) t.equal((await ask(path, bed.publicUrl)).status, 200, path);
});

t.test('roles are listed and switched', async (t) => {
  const states: RoleState[] = [{ role: 'inference', enabled: true, modules: ['inference'] }];
  const switched: unknown[] = [];
  const ask = await open(t, { roles: () => states, setRole: async (role, enabled) => void switched.push([role, enabled]) });
  t.strictSame(JSON.parse((await ask('/api/v1/system/roles')).text), { roles: states });
  const put = (role: string, body: unknown) =>
    ask(`/api/v1/system/roles/${role}`, undefined, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  t.equal((await put('inference', { enabled: false })).status, 200);
  t.strictSame(switched, [['inference', false]]);
  t.match(await put('kitchen', { enabled: true }), { status: 400, text: /one of/ });
  t.equal((await put('inference', { enabled: 1 })).status, 400);
});
