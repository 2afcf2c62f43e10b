/** The role data runs three modules, of which the interface names one. */
import t from 'tap';
import { createServer } from './main.ts';
import { newFolder } from './platform/files/test-support/new-folder.ts';
import { loadNodeConfig } from './settings.ts';

t.test('the modules of the role data are shown, switched and answered for as one', async (t) => {
  const environment = { SVC_LISTEN: '127.0.0.1:0', SVC_FORCE_CPU_FEATURES: 'none', SVC_DEFAULT_MODEL: 'none' };
  const config = loadNodeConfig({ root: newFolder(t, ['models']), environment });
  const server = await createServer(config, { sink: { write: () => {}, flush: () => {} } });
  const { internal } = await server.start();
  t.teardown(() => server.stop());
  const ask = async (method: string, path: string, body?: object) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(`http://127.0.0.1:${internal.port}${path}`, { method, ...sent });
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };
  const shown = async () => {
    const { roles } = (await ask('GET', '/api/v1/system/roles')).body as unknown as { roles: { role: string }[] };
    return roles.find(({ role }) => role === 'data');
  };
  const upload = () => ask('POST', '/api/v1/upload/init', { filename: 'a.txt', size: 1, namespace: 'kb' });

  t.strictSame(await shown(), { role: 'data', enabled: true, modules: ['data', 'memory'] });
  const before = (await ask('GET', '/health')).body;
  t.match(before, { data: { index_bytes: 0, vector_storage: 'f16' } });
  t.notOk('files' in before || 'retrieval' in before || JSON.stringify(before).includes('"retrieval"'));

  await ask('PUT', '/api/v1/system/roles/data', { enabled: false });
  t.strictSame(await shown(), { role: 'data', enabled: false, modules: ['data', 'memory'] });
  t.match(await upload(), { status: 503, body: { error: 'module_unavailable', module: 'data' } });
  t.match(await ask('GET', '/api/v1/vector/namespaces/default'), { status: 503, body: { module: 'data' } });
  t.match(await ask('GET', '/v1/files'), { status: 503, body: { error: { code: 'module_unavailable' } } });

  await ask('PUT', '/api/v1/system/roles/data', { enabled: true });
  t.match(await ask('GET', '/api/v1/vector/namespaces/default'), { status: 200, body: { data: [] } });
  t.not((await upload()).status, 503);

  const text = { tenant: 'default', namespace: 'kb', source: 'a.txt', text: 'The treasure lies under the bridge.' };
  t.match(await ask('POST', '/api/v1/vector/ingest', text), { status: 201 });
  const [{ id }] = (await ask('GET', '/api/v1/cluster/topology')).body['nodes'] as unknown as [{ id: string }];
  for (const path of ['/api/v1/system/roles/data', `/api/v1/cluster/nodes/${id}/roles/data`])
    t.match(await ask('PUT', path, { enabled: false }), { status: 409, body: { error: 'data_role_holds_data' } }, path);
  t.match(await shown(), { enabled: true });
  t.equal((await ask('PUT', '/api/v1/system/roles/data', { enabled: false, force: true })).status, 200);
  t.match(await shown(), { enabled: false });
});
