import t, { type Test } from 'tap';
import { openTestBed } from '../../platform/http/test-bed.ts';
import { MetricsRegistry } from '../../platform/metrics/registry.ts';
import { create, type HealthSource, type NodeState } from './index.ts';

async function open(t: Test, node: Partial<NodeState> = {}, sources: HealthSource[] = []) {
  const metrics = new MetricsRegistry();
  metrics.gauge('shown', 'Shown.').with().set(3);
  const usual: NodeState = { version: '1.2.3', modules: ['system', 'data'], auth: () => 'off', notReady: () => undefined };
  const { routes } = create({ node: { ...usual, ...node }, sources, metrics });
  const bed = await openTestBed(t, routes);
  return async (path: string, base = bed.url) => {
    const response = await fetch(base + path);
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
  const source: HealthSource = {
    name: 'inference',
    read: async () => ({ state: { models_loaded: 0 }, reasons: [{ code: 'cpu_lacks_avx2', detail: 'No AVX2.' }] }),
  };
  const health = JSON.parse((await (await open(t, {}, [source]))('/health')).text);
  t.match(health, {
    status: 'degraded',
    inference: { models_loaded: 0 },
    reasons: [{ code: 'cpu_lacks_avx2', detail: 'No AVX2.' }],
  });
});

t.test('a missing data role is a reason but no defect', async (t) => {
  const health = JSON.parse((await (await open(t, { modules: ['system'] }))('/health')).text);
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
