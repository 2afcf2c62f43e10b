/** Capability tokens from `svc` to a model, and what a revocation does to a stream that is open. */
import { join } from 'node:path';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { post, send } from './http.ts';
import { chatModel, embeddingModel, startServer } from './server.ts';

t.test('a capability is issued, narrowed, used and revoked', async (t) => {
  const folder = t.testdir();
  const models = { [chatModel]: { arch: 'llama' }, 'other-chat': { arch: 'llama' }, [embeddingModel]: { arch: 'bert' } } as const;
  const server = await startServer(t, { folder, models });
  const env = { SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
  const svc = async (args: string[], input = '', key?: string): Promise<Record<string, string>> => {
    const { code, stdout, stderr } = await runCli([...args, '--json'], {
      env: { ...env, ...(key && { SVC_API_KEY: key }) },
      input,
    });
    if (code !== 0) throw new Error(`svc ${args.join(' ')}: ${code} ${stderr}`);
    return JSON.parse(stdout) as Record<string, string>;
  };
  const messages = [{ role: 'user', content: 'Say something.' }];
  const chat = (token: string, model = chatModel) =>
    post(`${server.url}/v1/chat/completions`, { model, max_tokens: 4, messages }, { authorization: `Bearer ${token}` });
  await svc(['admin', 'create', 'ann']);
  await svc(['tenant', 'create', 'acme']);
  t.match(await svc(['user', 'create', 'robot', '--service', '--tenant', 'acme', '--role', 'developer']), { service: true });
  const { api_key: key = '' } = await svc(['key', 'create', 'ci', '--user', 'robot']);
  const limits = ['--scope', 'chat:use', '--scope', 'embeddings:use', '--model', chatModel, '--expires-in', '3600'];
  const made = await svc(['capability', 'create', ...limits], '', key);
  const token = made['token'] ?? '';

  t.match(await chat(token), { status: 200, json: { model: chatModel } });
  t.match(
    await chat(token, 'gpt-unknown'),
    { status: 200, json: { model: chatModel } },
    'only a permitted model answers in its place',
  );
  t.match(await chat(token, 'other-chat'), { status: 403, json: { error: { code: 'model_not_allowed' } } });
  const anthropic = { model: 'other-chat', max_tokens: 4, messages };
  t.match(await post(`${server.url}/v1/messages`, anthropic, { 'x-api-key': token }), {
    status: 403,
    json: { error: { type: 'permission_error', code: 'model_not_allowed' } },
  });
  const embeddings = { model: embeddingModel, input: 'x' };
  const headers = { authorization: `Bearer ${token}` };
  t.match(await post(`${server.url}/v1/embeddings`, embeddings, headers), { status: 403 });
  t.match(await post(`${server.url}/tokenize`, { model: 'other-chat', content: 'x' }, headers), { status: 403 });
  t.match(await post(`${server.url}/v1/responses`, { model: 'other-chat', input: 'x', background: true }, headers), {
    status: 403,
  });
  t.match(await send(`${server.url}/api/v1/auth/whoami`, { headers }), { json: { kind: 'capability', models: [chatModel] } });

  const child = await svc(['capability', 'derive', '--scope', 'chat:use', '--expires-in', '60'], token, key);
  t.equal((await chat(child['token'] ?? '')).status, 200);
  t.equal(((await svc(['capability', 'list'], '', key)) as unknown as object[]).length, 2);

  const openai = await openStream(`${server.url}/v1/chat/completions`, child['token'] ?? '');
  const anthropicStream = await openStream(`${server.url}/v1/messages`, child['token'] ?? '');
  const revoked = await post(`${server.url}/api/v1/identity/capabilities/revoke`, { token }, { 'x-api-key': key });
  t.equal(revoked.status, 204);
  t.match(
    await openai.rest(),
    /\n\ndata: \{"error":\{"message":[^\n]*"code":"invalid_api_key"[^\n]*"reason":"expired"[^\n]*\}\n\n$/,
  );
  t.match(
    await anthropicStream.rest(),
    /\n\nevent: error\ndata: \{"type":"error","error":\{"type":"authentication_error"[^\n]*\}\n\n$/,
  );
  t.match(await chat(child['token'] ?? ''), { status: 401, json: { error: { code: 'invalid_api_key', reason: 'expired' } } });
  const metrics = async () => (await send(`${server.url}/metrics`)).text;
  let active = await metrics();
  for (let n = 0; n < 100 && !/^svc_inference_active_sequences\{[^}]*\} 0$/m.test(active); n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    active = await metrics();
  }
  t.match(active, /^svc_inference_active_sequences\{[^}]*\} 0$/m, 'nobody computes for them any more');
  const last = await svc(['capability', 'create', '--scope', 'chat:use', '--expires-in', '60'], '', key);
  await svc(['capability', 'revoke', '-'], last['token'], key);
  t.equal((await chat(last['token'] ?? '')).status, 401);
  t.match(await svc(['audit', 'verify']), { broken_at: null });
});

/** A stream that goes on for long, once something has come of it. */
async function openStream(url: string, token: string): Promise<{ rest(): Promise<string> }> {
  const messages = [{ role: 'user', content: 'Go on.' }];
  const body = { model: chatModel, max_tokens: 100_000, ignore_eos: true, stream: true, messages };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const read = async (): Promise<boolean> => {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    text += value ?? '';
    return done;
  };
  while (!/data:/.test(text)) if (await read()) throw new Error(`the stream ended: ${text}`);
  return {
    rest: async () => {
      while (!(await read()));
      return text;
    },
  };
}
