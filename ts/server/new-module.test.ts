/** What a new module takes: a dozen lines and a place in the list. Its setting, table, job, route, health and metrics then are the server's. */
import t, { type Test } from 'tap';
import Type from 'typebox';
import { createServer } from './main.ts';
import { modules } from './modules.ts';
import { effectiveConfig } from './platform/config/effective-config.ts';
import { setting, textSchema } from './platform/config/setting.ts';
import { newFolder } from './platform/files/test-support/new-folder.ts';
import { scopeOf } from './platform/http/principal.ts';
import { json, route } from './platform/http/route.ts';
import { until } from './platform/jobs/test-support/open-jobs.ts';
import { defineModule } from './platform/module/module.ts';
import { column } from './platform/storage/index.ts';
import { loadNodeConfig } from './settings.ts';

interface Tables {
  visit: { tenant: string; id: string; greeting: string };
}

const Visit = Type.Object({ name: Type.String() });

/** The module that a contributor would write. Names are a list, so it takes the place of one that no other module uses. */
const greeter = defineModule({
  name: 'science',
  settings: { 'science.greeting': setting(textSchema, 'Hello', 'What the module says.') },
  migrations: [
    {
      id: 1,
      name: 'create visit',
      up: (schema) =>
        schema.tenantTable('visit', { columns: { id: column.id(), greeting: column.text() }, primaryKey: ['tenant', 'id'] }),
    },
  ],
  create: ({ settings, storage, jobs, metrics }) => {
    const access = storage.access<Tables>();
    const visits = metrics.counter('svc_science_visits_total', 'Visits.').with();
    const queue = jobs.define({
      name: 'science.visit',
      input: Visit,
      run: async ({ id, input, scope }) => {
        const row = { tenant: scope.tenant, id, greeting: `${settings['science.greeting']}, ${input.name}` };
        await access.writeUnit(scope, (db) => [db.insertInto('visit').values(row)]);
        visits.add();
        return row.greeting;
      },
    });
    return {
      api: undefined,
      routes: [
        route({
          method: 'POST',
          path: '/api/v1/science/visits',
          auth: 'viewer',
          maxBody: 1024,
          tag: 'Visits',
          summary: 'Greet somebody in the background',
          body: Visit,
          responses: { 202: Type.Object({ job: Type.String() }) },
          handle: async ({ caller, body }) => json(202, { job: (await queue.enqueue(scopeOf(caller), body)).id }),
        }),
      ],
      start: async () => queue.start(),
      stop: () => queue.stop(),
      health: () => ({ state: { greeting: settings['science.greeting'] }, reasons: [] }),
      ready: () => undefined,
    };
  },
});

const list = [...modules.filter(({ name }) => name !== greeter.name), greeter];

async function startNode(t: Test) {
  const environment = {
    SVC_LISTEN: '127.0.0.1:0',
    SVC_SCIENCE_GREETING: 'Good morning',
    SVC_FORCE_CPU_FEATURES: 'none',
    SVC_DEFAULT_MODEL: 'none',
  };
  const config = loadNodeConfig({ root: newFolder(t, ['models']), environment }, list);
  const server = await createServer(config, { modules: list, sink: { write: () => {}, flush: () => {} } });
  const { internal } = await server.start();
  t.teardown(() => server.stop());
  const ask = (path: string, method = 'GET', body?: unknown) =>
    fetch(`http://127.0.0.1:${internal.port}${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  return { config, server, ask };
}

t.test('a module of a dozen lines has a setting, a table, a job, a route, docs, health, metrics and a role', async (t) => {
  const { config, server, ask } = await startNode(t);

  t.match(
    effectiveConfig(config).find(({ key }) => key === 'science.greeting'),
    {
      value: '"Good morning"',
      origin: 'environment SVC_SCIENCE_GREETING',
    },
  );
  t.ok((server.openapi as { paths: object }).paths['/api/v1/science/visits' as never]);
  t.match(await (await ask('/docs')).text(), 'Greet somebody in the background');

  const answer = await ask('/api/v1/science/visits', 'POST', { name: 'Ada' });
  t.equal(answer.status, 202);
  const { job } = (await answer.json()) as { job: string };
  const ended = await until(
    async () => (await (await ask(`/api/v1/system/jobs/${job}`)).json()) as { state: string; result: unknown },
    ({ state }) => ['done', 'failed'].includes(state),
  );
  t.match(ended, { state: 'done', result: 'Good morning, Ada' });
  t.match(await (await ask('/metrics')).text(), /^svc_science_visits_total 1$/m);
  t.match(await (await ask('/health')).json(), { science: { greeting: 'Good morning' } });
  t.equal((await ask('/api/v1/science/visits', 'POST', { name: 1 })).status, 400);

  await ask('/api/v1/system/roles/edge', 'PUT', { enabled: false });
  const off = await ask('/api/v1/science/visits', 'POST', { name: 'Ada' });
  t.match(
    { status: off.status, ...((await off.json()) as object) },
    { status: 503, error: 'module_unavailable', module: 'science' },
  );
  await ask('/api/v1/system/roles/edge', 'PUT', { enabled: true });
  t.equal((await ask('/api/v1/science/visits', 'POST', { name: 'Ada' })).status, 202);
});
