/** A goal in the real program: a model of a provider plans it and calls tools, and nothing happens without the approval that the policy asks for. */
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { send, sendJson } from './http.ts';
import { openAiDialect } from './providers/openai.ts';
import { BILLED, startProvider } from './providers/provider-server.ts';
import { startServer } from './server.ts';

t.setTimeout(240_000);

interface Body {
  messages: { role: string; content?: string | null }[];
  tools?: { function: { name: string } }[];
  response_format?: object;
}

const { url } = await startServer(t, {
  models: {},
  env: { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1', SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' },
});
const model = await startProvider(t, openAiDialect);
model.models = ['actor'];
const account = { username: 'root', password: 'a lighthouse keeper' };
const { token } = await sendJson<{ token: string }>(url, '/api/v1/auth/register', account);
const headers = { authorization: `Bearer ${token}` };
const api = (path: string, method = 'GET', body?: unknown) =>
  send(url + path, { method, headers, ...(body !== undefined && { body }) });
await api('/api/v1/cloud/backends', 'POST', { id: 'one', kind: 'openai', base_url: `${model.origin}/v1`, key: 'sk-test' });
while (!(await api('/v1/models')).text.includes('"actor"')) await new Promise((resolve) => setTimeout(resolve, 20));

async function reach(id: string, state: string) {
  for (;;) {
    const { json } = await api(`/api/v1/swarm/goals/${id}`);
    if (json?.['state'] === state) return json;
    if (['failed', 'done', 'cancelled'].includes(String(json?.['state']))) throw new Error(JSON.stringify(json));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

t.test('a goal is planned and executed, and its call waits for the approval', async (t) => {
  const step = { agent: 'agent', instruction: 'Keep the plan.', tools: ['artifacts.create'], needs: [] };
  const says = (text: string) => ({ texts: [text], tokens: BILLED });
  model.say = (body: unknown) => {
    const { messages, response_format: format, tools = [] } = body as Body;
    if (format !== undefined) return says(JSON.stringify({ steps: [step] }));
    if (messages.some(({ role }) => role === 'tool')) return says('It is kept.');
    const given = JSON.stringify({ title: 'Plan', kind: 'markdown', content: '# Plan' });
    const calls = tools.map(({ function: { name } }) => ({ id: 'call_1', name, arguments: given }));
    return { texts: [], calls, finish: 'tool_calls', tokens: BILLED };
  };
  const agents = [{ name: 'agent', instructions: '', model: 'actor', tools: ['artifacts.create'], knowledge: [] }];
  const swarm = await api('/api/v1/swarm/swarms', 'POST', { name: 'One', order: 'sequence', agents });
  const made = await api('/api/v1/swarm/goals', 'POST', {
    goal: 'Keep a plan.',
    swarm_id: swarm.json?.['id'],
    tools: ['artifacts.create'],
    until: 'execute',
  });
  t.equal(made.status, 201);
  const id = String(made.json?.['id']);
  await reach(id, 'waiting');
  const count = async () => ((await api('/api/v1/artifacts')).json?.['data'] as unknown[] | undefined)?.length;
  t.equal(await count(), 0);
  const [pending] =
    ((await api('/api/v1/security/approvals?state=pending')).json?.['data'] as { id: string }[] | undefined) ?? [];
  await api(`/api/v1/security/approvals/${pending?.id}`, 'POST', { decision: 'approve' });
  t.match(await reach(id, 'done'), { plan: { steps: [{ state: 'done', result: 'It is kept.' }] } });
  t.equal(await count(), 1);
  t.match((await api(`/api/v1/swarm/goals/${id}/events`)).text, /event: approval.*event: tool.*event: end/s);
});

t.test('svc schedule: create, list, run, disable, enable, rm', async (t) => {
  const key = String((await api('/api/v1/identity/keys', 'POST', { name: 'cli' })).json?.['api_key']);
  const svc = (...args: string[]) => runCli(['schedule', ...args, '--url', url, '--api-key', key]);
  t.match((await svc('list')).stdout, 'no schedules');
  const about = ['--timezone', 'Europe/Berlin', '--prompt', 'What is new?', '--tool', 'artifacts.create', '--overlap', 'queue'];
  t.match(await svc('create', 'Digest', '0 25 * * *', ...about), { code: 1, stderr: /cron/ });
  t.match(await svc('create', 'Digest', '0 9 * * *', '--overlap', 'never'), { code: 2, stderr: /skip/ });
  const created = await svc('create', 'Digest', '0 9 * * 1-5', ...about, '--steps', '3');
  const [, id = ''] = /^(sch_\S+) \(Digest\): 0 9 \* \* 1-5 Europe\/Berlin, next at 20/.exec(created.stdout) ?? [];
  t.match((await svc('list')).stdout, new RegExp(`${id} +Digest +0 9 \\* \\* 1-5 Europe/Berlin +enabled +20\\S+ +-`));
  t.match((await svc('run', id)).stdout, /^goal_\S+ is running/);
  t.match((await svc('disable', id)).stdout, 'not enabled');
  t.match((await svc('list')).stdout, /disabled +-/);
  t.match((await svc('enable', id)).stdout, 'next at');
  t.match((await svc('rm', id)).stdout, `removed ${id}`);
  t.match(await svc('rm', id), { code: 4, stderr: /schedule/ });
});
