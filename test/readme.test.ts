/** The first command that a reader tries is the one in the README. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { startServer } from './server.ts';

t.setTimeout(300_000);

const readme = readFileSync('README.md', 'utf8');

t.test("the README's curl streams a completion", async (t) => {
  const [, path, body] = /curl -N http:\/\/127\.0\.0\.1:8880(\/\S+)[\s\S]*?-d '(.*)'/.exec(readme) ?? [];
  const server = await startServer(t, { models: {}, env: { SVC_MODELS_SHIPPED: 'true' } });
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: body ?? null,
  });
  const text = await response.text();
  t.equal(response.status, 200);
  t.match(text, /"model":"svc-chat-tiny"/);
  t.match(contentOf(text), /^Hello! I am svc-chat-tiny/);
  t.match(text, /data: \[DONE\]\n\n$/);
});

t.test('the quick start goes on to an account, a key, its use, its usage and its end', async (t) => {
  const block = /```sh\n(npx svc admin create[\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const [, path = '', body = ''] = /curl http:\/\/127\.0\.0\.1:8880(\/\S+)[\s\S]*?-d '(.*)'/.exec(block) ?? [];
  const commands = [...block.matchAll(/^npx svc (.*?)\s*(?:#.*)?$/gm)].map(([, words = '']) => words);
  t.strictSame(
    commands.map((words) => words.split(' ').slice(0, 2).join(' ')),
    ['admin create', 'key create', 'usage --by', 'key revoke'],
  );
  const folder = t.testdir();
  const server = await startServer(t, { folder, models: {}, env: { SVC_MODELS_SHIPPED: 'true' } });
  const env = { SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
  // biome-ignore lint/suspicious/noExplicitAny: tests match what they expect
  const svc = async (words = '', more = {}): Promise<any> => {
    const { code, stdout, stderr } = await runCli([...words.split(' '), '--json'], { env: { ...env, ...more } });
    t.equal(code, 0, `${words}: ${stderr}`);
    return stdout === '' ? undefined : JSON.parse(stdout);
  };
  await svc(commands[0]);
  const key = await svc(commands[1]);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key.api_key}` };
  const chat = () => fetch(`${server.url}${path}`, { method: 'POST', headers, body });
  const answer = await chat();
  t.equal(answer.status, 200);
  const { usage } = (await answer.json()) as { usage: { prompt_tokens: number } };
  const exported = { SVC_API_KEY: key.api_key };
  t.match(await svc(commands[2], exported), { data: [{ id: key.id, requests: 1, prompt_tokens: usage.prompt_tokens }] });
  await svc(commands[3]?.replace('key_...', key.id), exported);
  const refused = await chat();
  t.equal(refused.status, 401);
  t.match(await refused.json(), { error: { code: 'invalid_api_key', reason: 'api_key_revoked' } });
});

t.test('the commands of knowledge bases give cited answers from the documents of the repository', async (t) => {
  const block = /```sh\n(npx svc kb add[\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const files = /^npx svc kb add (.*?)\s*#/m.exec(block)?.[1]?.split(' ') ?? [];
  const [, question = ''] = /^npx svc kb ask "(.*)"$/m.exec(block) ?? [];
  const [, path, body] = /curl http:\/\/127\.0\.0\.1:8880(\/\S+)[\s\S]*?-d '([\s\S]*?)'/.exec(block) ?? [];
  const folder = t.testdir();
  const server = await startServer(t, {
    ...{ folder, models: {} },
    env: { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' },
  });
  const env = { SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
  // biome-ignore lint/suspicious/noExplicitAny: tests match what they expect
  const svc = async (...words: string[]): Promise<any> => {
    const { code, stdout, stderr } = await runCli(['kb', ...words, '--json'], { env });
    t.equal(code, 0, `${words}: ${stderr}`);
    return JSON.parse(stdout);
  };
  const startedAt = performance.now();
  t.match(await svc('add', ...files), { added: 3, unchanged: 0 });
  const citation = { n: Number, source: /^(?:README\.md|docs\/.*)$/, text: /8880/ };
  const cited = /8880.* \[\d\]/s;
  t.match(await svc('ask', question), { model: 'svc-chat-tiny', text: cited, citations: [citation] });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: body ?? null });
  t.match(await response.json(), {
    ...{ model: 'svc-chat-tiny', citations: [citation] },
    choices: [{ message: { content: cited, annotations: [{ type: 'url_citation' }] } }],
  });
  const stream = body?.replace('{', '{"stream": true, ') ?? null;
  const streamed = await (await fetch(`${server.url}${path}`, { method: 'POST', headers, body: stream })).text();
  t.match(contentOf(streamed), cited);
  t.match(streamed, /"finish_reason":"stop"\}\],"citations":\[\{"n":\d[\s\S]*data: \[DONE\]\n\n$/);
  const seconds = (performance.now() - startedAt) / 1000;
  t.comment(`cited answers after ${seconds.toFixed(1)} s`);
  t.ok(seconds < 30, 'soon enough for who tries it for the first time');
  t.match(await svc('add', ...files), { added: 0, unchanged: 3 });
});

function contentOf(events: string): string {
  const parts = [...events.matchAll(/"delta":\{[^}]*"content":"((?:[^"\\]|\\.)*)"/g)];
  return parts.map(([, content]) => JSON.parse(`"${content}"`) as string).join('');
}

t.test('the files that the README links to are there', async (t) => {
  for (const [, target] of readme.matchAll(/\]\((?!http)([^)#]+)\)/g))
    t.ok(readFileSync(target ?? '').length > 0, String(target));
});

t.test("the operator's way: each command of it, in its order, on a node", async (t) => {
  const section = /## Operate it\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? '';
  const commands = [...section.matchAll(/^(?:sudo -u svc )?svc (.*?)\s*(?:#.*|\|.*)?$/gm)].map(([, words = '']) => words);
  t.strictSame(
    commands.map((words) => words.split(' ').slice(0, 2).join(' ').trim()),
    [
      'doctor',
      'status',
      'admin create',
      'edge config',
      'backup destination',
      'backup create',
      'backup verify',
      'backup create',
      'doctor',
    ],
  );
  const [, path = '', body = ''] = /curl -N http:\/\/127\.0\.0\.1:8880(\/\S+)[\s\S]*?-d '(.*)'/.exec(section) ?? [];
  const folder = t.testdir({ passphrase: 'correct horse battery staple\n' });
  const settings = { SVC_MODELS_SHIPPED: 'true', SVC_BACKUP_PASSPHRASE_FILE: join(folder, 'passphrase') };
  const server = await startServer(t, { folder, models: {}, env: settings });
  const env = { ...settings, SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
  const said: Record<string, string> = {};
  for (const words of commands) {
    const args = words.replace('/mnt/backups', join(folder, 'backups')).split(' ');
    const { code, stdout, stderr } = await runCli(args, { env });
    t.equal(code, 0, `${words}: ${stderr}`);
    said[args.slice(0, 2).join(' ')] = stdout;
    if (!words.startsWith('admin create')) continue;
    const key = /svc_[A-Za-z0-9_-]{20,}/.exec(stdout)?.[0] ?? '';
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body });
    t.match(contentOf(await answer.text()), /^Hello! I am svc-chat-tiny/);
  }
  t.match(said['edge config'], /server_name ai\.example;/);
  t.match(said['backup verify'], /1 verified/);
  t.match(said['doctor'], /the schema is that of this version/);
});
