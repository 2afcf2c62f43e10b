/** Tools of a real node: over HTTP and at the command line, with the rights of whoever calls them. */
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { send, sendJson } from './http.ts';
import { startServer } from './server.ts';

// A server and a few commands are started.
t.setTimeout(120_000);

const TEXT = 'The lighthouse of Arkona is open from ten to six, and on Sundays until eight in the evening.';

t.test('tools are listed, called, limited by groups and tokens, and wait for approval', async (t) => {
  const { url } = await startServer(t, { models: {}, env: { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' } });
  const root = { username: 'root', password: 'a lighthouse keeper' };
  const { token } = await sendJson<{ token: string }>(url, '/api/v1/auth/register', root);
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const svcAs = (key: string, ...args: string[]) => runCli([...args, '--url', url], { env: { SVC_API_KEY: key } });
  const svc = (...args: string[]) => svcAs(token, ...args);
  const execute = (key: string, body: object) =>
    send(`${url}/api/v1/tools/execute`, { method: 'POST', body, headers: bearer(key) });
  const ingest = { tenant: 'default', namespace: 'towers', source: 'arkona.txt', text: TEXT };
  t.equal((await send(`${url}/api/v1/vector/ingest`, { method: 'POST', body: ingest, headers: bearer(token) })).status, 201);

  await t.test('the three of them', async (t) => {
    t.match(
      (await svc('tool', 'list')).stdout,
      /artifacts\.create +write +ask[\s\S]*conversations\.search +read +allow[\s\S]*knowledge\.search/,
    );
    const found = await svc('tool', 'run', 'knowledge.search', '{"query": "lighthouse Arkona"}');
    t.match(found, { code: 0, stdout: /on Sundays until eight/ });
    t.match(await svc('tool', 'run', 'knowledge.search', '{"query": "x", "namespaces": ["none"]}'), {
      code: 1,
      stdout: /namespace_not_found/,
    });
    t.match(await svc('tool', 'run', 'knowledge.search', 'words'), { code: 2, stderr: /is no JSON object/ });
    const conversation = { title: 'About the lighthouse' };
    await send(`${url}/api/v1/edge/conversations`, { method: 'POST', body: conversation, headers: bearer(token) });
    t.match((await svc('tool', 'run', 'conversations.search', '{"query": "lighthouse"}')).stdout, /About the lighthouse/);
    t.match((await svc('usage', '--by', 'model')).stdout, /knowledge\.search/);
    t.match((await svc('audit', '--json')).stdout, /"tool\.call"/);
  });

  await t.test('a call that the policy makes ask, until somebody decides', async (t) => {
    t.match((await svc('tool', 'policy')).stdout, /no rules/);
    t.match((await svc('tool', 'policy', 'set', '--ask', 'artifacts.*')).stdout, /ask +artifacts\.\* +all/);
    const page = '{"title": "Plan", "kind": "markdown", "content": "# Plan"}';
    t.match(await svc('tool', 'run', 'artifacts.create', page), { code: 6, stderr: /waits for the approval apr_/ });
    const listed = (await svc('approval', 'list', '--state', 'pending', '--json')).json() as { id: string }[];
    const [{ id = '' } = {}] = listed;
    t.match((await svc('approval', 'approve', id)).stdout, /is approved: artifacts\.create .*# Plan/);
    t.match((await svc('tool', 'run', 'artifacts.create', page, '--approval', id)).stdout, /"title": "Plan"/);
    t.equal((await svc('tool', 'run', 'artifacts.create', page, '--approval', id)).code, 6, 'it was used');
    const { data } = (await send(`${url}/api/v1/artifacts`, { headers: bearer(token) })).json as { data: { title: string }[] };
    t.match(data, [{ title: 'Plan' }]);
    t.equal(data.length, 1);
    const again = (await svc('approval', 'list', '--state', 'pending', '--json')).json() as { id: string }[];
    t.match(await svc('approval', 'deny', again[0]?.id ?? '', '--reason', 'not now'), { code: 0, stdout: /is denied/ });
  });

  await t.test('a token for one tool, and a group', async (t) => {
    const made = await svc(
      'capability',
      'create',
      '--scope',
      'tools:use',
      '--scope',
      'knowledge:read',
      '--tool',
      'knowledge.search',
      '--expires-in',
      '600',
      '--json',
    );
    const agent = (made.json() as { token: string }).token;
    t.match(await execute(agent, { tool: 'knowledge.search', arguments: { query: 'lighthouse' } }), {
      status: 200,
      json: { ok: true },
    });
    t.match(await execute(agent, { tool: 'artifacts.create' }), { status: 404, json: { error: 'tool_not_found' } });
    t.equal((await send(`${url}/api/v1/security/approvals`, { headers: bearer(agent) })).status, 403);
    const body = { username: 'ann', password: 'a lighthouse keeper', role: 'viewer' };
    await send(`${url}/api/v1/identity/users`, { method: 'POST', body, headers: bearer(token) });
    t.equal((await svc('tenant', 'access', 'default', '--tools', 'granted')).code, 0);
    const ann = (await sendJson<{ token: string }>(url, '/api/v1/auth/login', body)).token;
    t.match((await svcAs(ann, 'tool', 'list')).stdout, /no tools/);
    await svc('group', 'create', 'readers', '--tool', 'knowledge.*');
    await svc('group', 'add', 'readers', 'ann');
    t.match(await execute(ann, { tool: 'knowledge.search', arguments: { query: 'lighthouse' } }), { status: 200 });
    t.equal((await execute(ann, { tool: 'conversations.search', arguments: { query: 'x' } })).status, 404);
  });
});
