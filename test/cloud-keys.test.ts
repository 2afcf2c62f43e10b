/**
 * The key of a provider, planted, is found nowhere but at its provider: in no file of the data folder, no log, error, line of the audit, metric,
 * answer, bundle or backup. And a server that is killed while it registers, changes or deletes a backend has a whole one afterwards, or none.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { post, send, sendJson } from './http.ts';
import { openAiDialect } from './providers/openai.ts';
import { startProvider } from './providers/provider-server.ts';
import { startServer } from './server.ts';
import { iterations } from './test-support/iterations.ts';
import { random } from './test-support/seed.ts';

t.setTimeout(600_000);

const KEY = 'zq-planted-7f3a9c51d2e84b06';
const HEADER = 'zq-header-5b1c0d9e7a2f4863';
const SECRETS = [KEY, HEADER, Buffer.from(KEY).toString('base64').slice(0, 30), KEY.slice(3, 20)];
const BACKENDS = '/api/v1/cloud/backends';
const env = { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1', SVC_LOG_LEVEL: 'debug' };

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

const unpacked: string[] = [];

/** Names the place if any of the secrets stands there; what is packed is looked into. */
function places(bytes: Buffer, where: string): string[] {
  // Pieces of backups have a byte or two of their own before it.
  const at = bytes.subarray(0, 64).indexOf(Buffer.from('1f8b08', 'hex'));
  const packed = at === -1 ? Buffer.alloc(0) : gunzipSync(bytes.subarray(at));
  if (at !== -1) unpacked.push(where);
  return SECRETS.some((secret) => bytes.includes(secret) || packed.includes(secret)) ? [where] : [];
}

t.test('a planted key is found nowhere', async (t) => {
  const provider = await startProvider(t, openAiDialect);
  const other = await startProvider(t, openAiDialect);
  const folder = t.testdir();
  const server = await startServer(t, { models: {}, folder, env: { ...env, SVC_BACKUP_PLAIN_TEXT: 'true' } });
  const { url } = server;
  const found: string[] = [];
  const heard = (what: string, answer: { text: string; headers: Headers }): void => {
    found.push(...places(Buffer.from(answer.text + JSON.stringify([...answer.headers])), what));
  };
  const made = await post(url + BACKENDS, {
    id: 'far',
    kind: 'openai',
    base_url: `${provider.origin}/v1`,
    key: KEY,
    headers: { 'x-team': HEADER },
    model_filter: { include: ['model-a'] },
    timeouts: { connect_ms: 1000, first_byte_ms: 1000, idle_ms: 1000 },
  });
  t.equal(made.status, 201, made.text);
  heard('the registration', made);
  const messages = [{ role: 'user', content: 'Hi' }];
  const message = `Key ${KEY} of ${HEADER} is not valid: ${KEY.slice(3, 20)}`;
  for (const fault of [
    'none',
    'cut',
    'page',
    { status: 400, message },
    { status: 429, message },
    { status: 500, message },
  ] as const)
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses'])
      for (const stream of [true, false]) {
        provider.script = Array.from({ length: 4 }, () => fault);
        const body = { model: 'model-a', messages, input: 'Hi', max_tokens: 9, stream };
        heard(`${path} after ${JSON.stringify(fault)}`, await post(url + path, body));
        provider.script = [];
        await send(`${url}${BACKENDS}/far`, { method: 'PATCH', body: { weight: 1 + random.next() } });
      }
  t.ok(provider.chats.every(({ headers }) => headers.authorization === `Bearer ${KEY}` && headers['x-team'] === HEADER));
  provider.script = [{ status: 401, message }];
  heard('a refused key', await post(`${url}/v1/chat/completions`, { model: 'model-a', messages }));
  heard('what is wrong', await send(`${url}${BACKENDS}/far`));
  heard('the list', await send(`${url}${BACKENDS}`));
  heard('the public list', await send(`${url}${BACKENDS}/public`));
  heard('a recheck', await post(`${url}${BACKENDS}/far/recheck`, undefined));
  heard('a bad change', await send(`${url}${BACKENDS}/far`, { method: 'PATCH', body: { key: KEY, api_key_env: 'A_API_KEY' } }));
  heard(
    'a key in the address',
    await post(url + BACKENDS, { id: 'x', kind: 'openai', base_url: `https://me:${KEY}@api.example/v1` }),
  );
  heard(
    'a body that is no JSON',
    await send(url + BACKENDS, { method: 'POST', body: `{"key":"${KEY}"`, headers: { 'content-type': 'application/json' } }),
  );
  heard(
    'a body of another shape',
    await post(url + BACKENDS, { id: 'x', kind: 'openai', key: [KEY], headers: { 'x-team': { a: HEADER } } }),
  );
  for (const path of [
    '/v1/models',
    '/metrics',
    '/health',
    '/api/v1/security/audit',
    '/api/v1/metering/usage?by=backend',
    '/openapi.json',
  ])
    heard(path, await send(url + path));
  for (const words of [
    ['backend', 'list'],
    ['backend', 'show', 'far'],
    ['models', 'list'],
    ['usage', '--by', 'backend'],
  ]) {
    const { stdout, stderr } = await runCli([...words, '--url', url]);
    found.push(...places(Buffer.from(stdout + stderr), words.join(' ')));
  }
  const bundle = join(folder, 'bundle.tar.gz');
  const bundled = await runCli(['support-bundle', '--output', bundle], {
    env: { SVC_DATA_DIR: join(folder, 'data'), SVC_URL: url },
  });
  t.equal(bundled.code, 0, bundled.stderr);
  const backup = await runCli(['backup', 'create', '--url', url]);
  t.equal(backup.code, 0, backup.stderr);
  found.push(...places(Buffer.from(server.log), 'the log'));
  for (const path of filesIn(folder)) if (!path.includes('/models/')) found.push(...places(readFileSync(path), path));
  t.ok(
    filesIn(folder).some((path) => path.endsWith('svc.db')),
    'the database was looked at',
  );
  t.ok(unpacked.includes(bundle), 'and into the bundle');
  t.ok(
    unpacked.some((path) => path.includes('/backups/')),
    'and into the backup',
  );
  t.strictSame(found, []);

  const moved = { base_url: `${other.origin}/v1`, api_key_env: null };
  t.equal((await send(`${url}${BACKENDS}/far`, { method: 'PATCH', body: moved })).status, 200);
  await post(`${url}/v1/chat/completions`, { model: 'model-a', messages });
  await post(`${url}${BACKENDS}/far/recheck`, undefined);
  t.ok(other.asked.length > 0, 'the other address was asked');
  t.strictSame(places(Buffer.from(JSON.stringify(other.asked)), 'a request to another origin'), [], 'and gets no key');
});

t.test('kill -9 during registration, change of a key and deletion leaves a whole backend or none', async (t) => {
  const provider = await startProvider(t, openAiDialect);
  const folder = t.testdir();
  const keys = ['zq-first-0123456789abcdef', 'zq-second-0123456789abcdef'];
  const base = { kind: 'openai', base_url: `${provider.origin}/v1`, model_filter: { include: ['model-a'] } };
  const states: Record<string, number> = {};
  for (let round = 0; round < iterations(3, 24, 'SVC_TEST_KILLS'); round++) {
    const server = await startServer(t, { models: {}, folder, env });
    const { url } = server;
    const quietly = (work: Promise<unknown>) => work.catch(() => undefined);
    const working = (async () => {
      for (let i = 0; server.running; i++) {
        const headers = { 'x-team': keys[i % 2] };
        await quietly(post(url + BACKENDS, { id: 'far', ...base, key: keys[i % 2], headers }));
        await quietly(
          send(`${url}${BACKENDS}/far`, {
            method: 'PATCH',
            body: { key: keys[(i + 1) % 2], headers: { 'x-team': keys[(i + 1) % 2] } },
          }),
        );
        if (i % 2 === 0) await quietly(send(`${url}${BACKENDS}/far`, { method: 'DELETE' }));
      }
    })();
    await wait(random.integer(250));
    await server.stop('SIGKILL');
    await working;
    const again = await startServer(t, { models: {}, folder, env });
    const { data } = await sendJson<{ data: { id: string; key_present: boolean; headers: object }[] }>(again.url, BACKENDS);
    states[data.length] = (states[data.length] ?? 0) + 1;
    if (data.length > 0) {
      t.match(data, [{ id: 'far', key_present: true, headers: { 'x-team': 'set' } }], `round ${round}`);
      const nBefore = provider.chats.length;
      const answer = await post(`${again.url}/v1/chat/completions`, {
        model: 'model-a',
        messages: [{ role: 'user', content: 'Hi' }],
      });
      t.equal(answer.status, 200, answer.text);
      const { authorization = '', 'x-team': team } = provider.chats[nBefore]?.headers ?? {};
      t.ok(
        keys.some((key) => authorization === `Bearer ${key}` && team === key),
        'the key and the field of one change, opened again',
      );
    }
    await again.stop();
  }
  t.comment(`backends after each kill: ${JSON.stringify(states)}`);
});
