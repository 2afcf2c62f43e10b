/** Groups as an operator makes them with `svc`, and what their members then see of the models. */
import { join } from 'node:path';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { post, send } from './http.ts';
import { chatModel, startServer } from './server.ts';

t.test('where a tenant limits its models, a caller sees and uses those that its groups grant', async (t) => {
  const folder = t.testdir();
  const server = await startServer(t, { folder });
  const env = { SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
  const svc = async (...args: string[]): Promise<Record<string, string>> => {
    const { code, stdout, stderr } = await runCli([...args, '--json'], { env });
    if (code !== 0) throw new Error(`svc ${args.join(' ')}: ${code} ${stderr}`);
    return JSON.parse(stdout) as Record<string, string>;
  };
  const root = await svc('admin', 'create', 'ann', '--key');
  await svc('user', 'create', 'bob', '--role', 'developer');
  const key = await svc('key', 'create', 'ci', '--user', 'bob');
  const asRoot = { authorization: `Bearer ${root['api_key']}` };
  const asBob = { authorization: `Bearer ${key['api_key']}` };
  const messages = [{ role: 'user', content: 'Say something.' }];
  const chat = (headers: Record<string, string>) =>
    post(`${server.url}/v1/chat/completions`, { model: chatModel, max_tokens: 4, messages }, headers);
  const respond = (headers: Record<string, string>) =>
    post(`${server.url}/v1/responses`, { model: chatModel, max_output_tokens: 16, input: 'Say.', background: true }, headers);
  const ids = async (headers: Record<string, string>) => {
    const { json } = await send(`${server.url}/v1/models`, { headers });
    return ((json?.['data'] ?? []) as { id: string }[]).map(({ id }) => id);
  };
  const all = await ids(asBob);
  t.ok(all.includes(chatModel));
  t.equal((await chat(asBob)).status, 200);

  await svc('tenant', 'access', 'default', '--models', 'granted');
  t.strictSame(await ids(asBob), []);
  t.strictSame(await ids({}), [], 'nor does somebody without a credential see any');
  t.strictSame(await ids(asRoot), all, 'administrators use everything');
  t.equal((await chat(asRoot)).status, 200);
  const unknown = await post(`${server.url}/v1/embeddings`, { model: 'no-such-model', input: 'x' }, asBob);
  const refused = await post(`${server.url}/v1/embeddings`, { model: chatModel, input: 'x' }, asBob);
  t.strictSame(
    [refused.status, JSON.stringify(refused.json).replaceAll(chatModel, 'M')],
    [unknown.status, JSON.stringify(unknown.json).replaceAll('no-such-model', 'M')],
    'a model that is not granted is answered like one that is not there',
  );
  t.match(await chat(asBob), { status: 404, json: { error: { code: 'model_not_found' } } }, 'and no other one answers for it');
  t.equal((await respond(asBob)).status, 404);
  const detail = (path: string, headers: Record<string, string>) =>
    send(`${server.url}/api/v1/${path}/${chatModel}`, { headers });
  for (const path of ['inference/models', 'data/models']) {
    t.equal((await detail(path, asBob)).status, 404, path);
    t.equal((await detail(path, asRoot)).status, 200, path);
  }

  await svc('group', 'create', 'staff', '--model', `${chatModel.slice(0, 3)}*`, '--knowledge', 'handbook');
  await svc('group', 'add', 'staff', 'bob');
  t.strictSame(
    await ids(asBob),
    all.filter((id) => id.startsWith(chatModel.slice(0, 3))),
  );
  t.match(await chat(asBob), { status: 200, json: { model: chatModel } });
  t.equal((await detail('inference/models', asBob)).status, 200);
  const started = await respond(asBob);
  t.equal(started.status, 200);
  const poll = async () => (await send(`${server.url}/v1/responses/${started.json?.['id']}`, { headers: asBob })).json ?? {};
  let response = await poll();
  while (['queued', 'in_progress'].includes(String(response['status']))) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    response = await poll();
  }
  t.match(response, { model: chatModel, status: /^(completed|incomplete)$/ }, 'a job goes on with the model that was allowed');
  t.match(await svc('group', 'members', 'staff'), [{ username: 'bob' }]);
  await svc('group', 'set', 'staff', '--role', 'admin');
  t.equal((await send(`${server.url}/api/v1/identity/users`, { headers: asBob })).status, 200);
  await svc('group', 'remove', 'staff', 'bob');
  t.equal((await send(`${server.url}/api/v1/identity/users`, { headers: asBob })).status, 403);
  t.equal((await chat(asBob)).status, 404);
  await svc('group', 'delete', 'staff');
  t.match(await svc('group', 'list'), []);

  const invited = await svc('invite', '--role', 'developer', '--note', 'for carl');
  const registered = await post(`${server.url}/api/v1/auth/register`, {
    username: 'carl',
    password: 'a long enough one',
    invitation: invited['token'],
  });
  t.match(registered, { status: 201, json: { user: { username: 'carl', role: 'developer' } } });
  t.match(await svc('invite', 'list'), [{ state: 'used_up', note: 'for carl' }]);
  await svc('invite', 'revoke', String(invited['id']));
  t.match(await svc('invite', 'list'), []);
  t.match(await svc('audit', 'verify'), { broken_at: null });
});
