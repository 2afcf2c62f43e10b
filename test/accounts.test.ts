/** Accounts as an operator makes them: with `svc`, on a running node, and used over HTTP. */
import { join } from 'node:path';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { post, send } from './http.ts';
import { chatModel, startServer } from './server.ts';

interface Made {
  id: string;
  api_key: string;
  password: string;
}

t.test('an operator makes a tenant, accounts and keys with svc', async (t) => {
  const folder = t.testdir();
  const server = await startServer(t, { folder });
  const env = { SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
  const svc = async (...args: string[]): Promise<Made & Record<string, unknown>> => {
    const { code, stdout, stderr } = await runCli([...args, '--json'], { env });
    if (code !== 0) throw new Error(`svc ${args.join(' ')}: ${code} ${stderr}`);
    return JSON.parse(stdout) as Made & Record<string, unknown>;
  };
  const chat = (headers: Record<string, string>) => {
    const messages = [{ role: 'user', content: 'Say something.' }];
    return post(`${server.url}/v1/chat/completions`, { model: chatModel, max_tokens: 4, messages }, headers);
  };
  t.equal((await chat({ authorization: 'Bearer none' })).status, 200, 'without accounts nobody is asked');
  t.match(await send(`${server.url}/health`), { json: { auth: 'off' } });

  const root = await svc('admin', 'create', 'ann', '--key');
  t.match(await send(`${server.url}/health`), { json: { auth: 'enforce' } });
  t.equal((await chat({})).status, 401);
  t.match(await chat({ authorization: 'Bearer none' }), { status: 401, json: { error: { code: 'invalid_api_key' } } });
  t.equal((await chat({ authorization: `Bearer ${root.api_key}` })).status, 200);
  t.equal((await send(`${server.url}/v1/models`)).status, 200);

  await svc('tenant', 'create', 'acme', '--tokens-per-minute', '100000');
  await svc('user', 'create', 'bob', '--tenant', 'acme', '--role', 'developer');
  const key = await svc('key', 'create', 'ci', '--user', 'bob', '--scope', 'chat:use');
  const bearer = { authorization: `Bearer ${key.api_key}` };
  t.equal((await chat(bearer)).status, 200);
  t.match(await send(`${server.url}/api/v1/auth/whoami`, { headers: bearer }), {
    json: { kind: 'api_key', tenant: 'acme', role: 'developer', scopes: ['chat:use'], user: { username: 'bob' } },
  });
  t.equal((await send(`${server.url}/api/v1/system/roles`, { headers: bearer })).status, 403);
  t.match(await svc('user', 'role', 'bob', 'admin'), { role: 'admin' });
  t.match(await svc('user', 'list'), [{}, {}]);
  await svc('key', 'revoke', key.id);
  t.match(await chat(bearer), { status: 401, json: { error: { code: 'invalid_api_key', reason: 'api_key_revoked' } } });

  const reset = (await svc('user', 'reset', 'bob'))['token'];
  t.equal((await post(`${server.url}/api/v1/auth/reset-password`, { token: reset, password: 'a new long one' })).status, 204);
  const login = await post(`${server.url}/api/v1/auth/login`, { username: 'bob', password: 'a new long one' });
  const session = { authorization: `Bearer ${login.json?.['token']}` };
  t.equal((await chat(session)).status, 200);
  await svc('user', 'disable', 'bob');
  t.equal((await chat(session)).status, 401);

  t.match(await svc('audit', 'verify'), { broken_at: null });
  const actions = (await svc('audit')) as unknown as { action: string }[];
  for (const action of [
    'user.create',
    'tenant.create',
    'key.create',
    'key.revoke',
    'user.reset',
    'session.create',
    'user.update',
  ]) {
    t.ok(
      actions.some((line) => line.action === action),
      action,
    );
  }
  t.match(
    await runCli(['user', 'disable', ''], { env }),
    { code: 4, stderr: /there is no account/ },
    'an empty name is nobody’s',
  );
  const taken = await runCli(['user', 'create', 'bob'], { env });
  t.equal(taken.code, 6, taken.stderr);
  const stranger = await runCli(['user', 'list'], { env: { ...env, SVC_DATA_DIR: join(folder, 'models') } });
  t.equal(stranger.code, 1);
  t.match(stranger.stderr, /401/);
});
