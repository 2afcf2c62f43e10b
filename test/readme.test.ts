/** What a reader tries first are the commands of the first page, and of the pages for operators. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { mailServer } from '../ts/server/domains/comm/test-support/comm-bed.ts';
import { openForeign } from '../ts/server/domains/edge/test-support/foreign-server.ts';
import { adapterOf, scriptedSource, sendJson } from '../ts/server/domains/science/test-support/science-bed.ts';
import { until } from '../ts/server/platform/jobs/test-support/open-jobs.ts';
import { openAiDialect } from './providers/openai.ts';
import { BILLED, startProvider } from './providers/provider-server.ts';
import { startServer } from './server.ts';

t.setTimeout(300_000);

const run = promisify(execFile);
const readme = readFileSync('README.md', 'utf8');
/** The first block of a page, which is the way that it shows. */
const firstBlock = (page: string) => /```sh\n([\s\S]*?)```/.exec(readFileSync(page, 'utf8'))?.[1] ?? '';

/** A node without accounts, as one starts it for a first look, that embeds with what ships. */
const folder = t.testdir();
const server = await startServer(t, { folder, models: {}, env: { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' } });

t.test("the README's curl streams a completion", async (t) => {
  const [, path, body] = /curl -N http:\/\/127\.0\.0\.1:8880(\/\S+)[\s\S]*?-d '(.*)'/.exec(readme) ?? [];
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
  const listed = readFileSync('docs/reference/metrics.md', 'utf8');
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const names = [...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  t.ok(names.length > 30);
  t.strictSame(
    names.filter((name) => !listed.includes(`| \`${name}\` |`)),
    [],
    'every metric of a node is on its page',
  );
});

t.test('the clients of the pages are answered, with another address alone', async (t) => {
  for (const page of ['README.md', 'docs/use/openai.md', 'docs/use/anthropic.md']) {
    const block = /```js\n([\s\S]*?)```/.exec(readFileSync(page, 'utf8'))?.[1] ?? '';
    t.match(block, 'http://127.0.0.1:8880', page);
    const program = block.replace('http://127.0.0.1:8880', server.url);
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program]);
    t.ok(stdout.length > 0 || !/console|stdout/.test(block), `${page} prints ${JSON.stringify(stdout.slice(0, 80))}`);
  }
});

t.test('the first page has something remembered, found and forgotten', async (t) => {
  const block = /```sh\n(svc memory add[\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const text = /"(.*?)"/.exec(block)?.[1] ?? '';
  const question = /search "(.*?)"/.exec(block)?.[1] ?? '';
  // biome-ignore lint/suspicious/noExplicitAny: tests match what they expect
  const svc = async (...words: string[]): Promise<any> => {
    const { code, stdout, stderr } = await runCli(['memory', ...words, '--url', server.url, '--json'], { env: {} });
    t.equal(code, 0, `${words}: ${stderr}`);
    return JSON.parse(stdout);
  };
  const { id } = await svc('add', text);
  t.match(await svc('search', question), [{ id, text }]);
  t.strictSame(await svc('forget', id), { deleted: 1, files: [] });
});

t.test('the first page goes on to an account, a key, its use, its usage and its end', async (t) => {
  const block = /```sh\n(svc admin create[\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const [, path = '', body = ''] = /curl http:\/\/127\.0\.0\.1:8880(\/\S+)[\s\S]*?-d '(.*)'/.exec(block) ?? [];
  const commands = [...block.matchAll(/^svc (.*?)\s*(?:#.*)?$/gm)].map(([, words = '']) => words);
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

t.test('the first document is answered as the first page says, word by word', async (t) => {
  const blocks = /```sh\n(printf [\s\S]*?)```\n\n```\n([\s\S]*?)```[\s\S]*?```sh\n([\s\S]*?)```/.exec(readme);
  const [, block = '', answer = '', request = ''] = blocks ?? [];
  const [, words = ''] = /^printf '(.*)' > ferry\.md$/m.exec(block) ?? [];
  const [, question = ''] = /^svc kb ask "(.*)"$/m.exec(block) ?? [];
  const [, path = '', body = ''] = /curl http:\/\/127\.0\.0\.1:8880(\/\S+)[\s\S]*?-d '([\s\S]*?)'/.exec(request) ?? [];
  const svc = (...args: string[]) => kb(t, t.testdir({ 'ferry.md': words.replaceAll('\\n', '\n') }), ...args);
  t.match(await svc('add', 'ferry.md'), /1 added, 0 unchanged/);
  t.equal((await svc('ask', question)).trimEnd(), answer.trimEnd());
  const chat = (text: string) => post(`${server.url}${path}`, text);
  const json = JSON.parse(await chat(body));
  const content = answer.split('\n')[0] ?? '';
  t.match(json, { model: 'svc-chat-tiny', citations: [{ n: 1, source: 'ferry.md' }], choices: [{ message: { content } }] });
  const streamed = await chat(body.replace('{', '{"stream": true, '));
  t.equal(contentOf(streamed), content);
  t.match(streamed, /"finish_reason":"stop"\}\],"citations":\[\{"n":\d[\s\S]*data: \[DONE\]\n\n$/);
  t.match(await svc('add', 'ferry.md'), /0 added, 1 unchanged/);
});

t.test('a message, a query and a device take six commands and no account elsewhere', async (t) => {
  const section = /## The first message, query and device\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? '';
  const blockWith = (page: string, mark: string): string =>
    [...readFileSync(page, 'utf8').matchAll(/```json\n([\s\S]*?)```/g)].find(([, block]) => block?.includes(mark))?.[1] ?? '';
  const device = blockWith('docs/use/devices.md', '"Greenhouse"');
  const account = blockWith('docs/use/messages.md', 'root@localhost');
  const commands = [...section.matchAll(/^svc (.*?)\s*(?:#.*)?$/gm)].map(([, words = '']) => words);
  t.equal(commands.length, 6);
  const row = { id: 1, title: 'Lenses of lighthouses', date: '2024-05-01', doi: '10.1000/lens' };
  const source = await scriptedSource(t, (_, response) => sendJson(response, { total: 1, rows: [row] }));
  const mail = await mailServer(t);
  const adapter = JSON.stringify(adapterOf('crossref', source.url));
  // A file of that name takes the place of the source that ships.
  const folder = t.testdir({ data: { science: { 'crossref.json': adapter } }, 'greenhouse.json': device, 'alerts.json': '' });
  writeFileSync(join(folder, 'alerts.json'), account.replace('"port": 25', `"port": ${mail.port}`));
  const env = { SVC_COMM_ALLOWED_HOSTS: `http://127.0.0.1:${mail.port}`, SVC_SCIENCE_ALLOWED_HOSTS: 'http://127.0.0.1' };
  const server = await startServer(t, { folder, models: {}, env });
  let id = '';
  const svc = async (words: string): Promise<string> => {
    const args = [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = '']) => quoted ?? word);
    const given = args.map((arg) => (arg.endsWith('.json') ? join(folder, arg) : arg.replace('acc_...', id)));
    const cliEnv = { SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
    const { code, stdout, stderr } = await runCli(given, { env: cliEnv });
    t.equal(code, 0, `${words}: ${stderr}`);
    id = /acc_[\w-]+/.exec(stdout)?.[0] ?? id;
    return stdout;
  };
  const said: string[] = [];
  for (const words of commands) said.push(await svc(words));
  t.match(said[1], /Cel[\s\S]*good/);
  t.match(said[3], /crossref +2024-05-01 +Lenses of lighthouses/);
  await until(
    () => mail.accepted,
    (accepted) => accepted.length === 1,
  );
  t.match(mail.accepted[0], /The greenhouse is warm/);
});

t.test('the first page goes on to a tool of an MCP server, whose call waits for an approval', async (t) => {
  const block = /```sh\n(svc mcp add[\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const [, path = '', body = ''] = /curl -N http:\/\/127\.0\.0\.1:8880(\/\S+)[\s\S]*?-d '(.*)'/.exec(block) ?? [];
  const commands = [...block.matchAll(/^svc (.*?)\s*(?:#.*)?$/gm)].map(([, words = '']) => words);
  const noted: unknown[] = [];
  const schema = { type: 'object', properties: { text: { type: 'string' } } };
  const notes = await openForeign(t, [{ name: 'add', schema, run: (given) => noted.push(given) }]);
  const allowed = 'http://127.0.0.1';
  const folder = t.testdir();
  const env = { SVC_CLOUD_ALLOWED_HOSTS: allowed, SVC_MCP_ALLOWED_HOSTS: allowed };
  const server = await startServer(t, { folder, models: {}, env });
  const model = await startProvider(t, openAiDialect);
  const { model: name } = JSON.parse(body) as { model: string };
  model.models = [name];
  model.say = ({ messages }: { messages: { role: string }[] }) => {
    const call = { id: 'call_1', name: 'mcp_notes_add', arguments: '{"text":"the lamp is lit"}' };
    const isDone = messages.some(({ role }) => role === 'tool');
    return isDone ? { texts: ['Noted.'], tokens: BILLED } : { texts: [], calls: [call], finish: 'tool_calls', tokens: BILLED };
  };
  const backend = { id: 'one', kind: 'openai', base_url: `${model.origin}/v1`, key: 'sk-test' };
  t.match(JSON.parse(await post(`${server.url}/api/v1/cloud/backends`, JSON.stringify(backend))), { id: 'one' });
  while (!(await (await fetch(`${server.url}/v1/models`)).text()).includes(`"${name}"`)) await new Promise(setImmediate);
  const svc = async (words: string): Promise<string> => {
    const cliEnv = { SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
    const { code, stdout, stderr } = await runCli(words.split(' '), { env: cliEnv });
    t.equal(code, 0, `${words}: ${stderr}`);
    return stdout;
  };
  const shown = await svc(`${commands[0]?.replace('https://mcp.example.com/mcp', notes.url)} --json`);
  await svc(commands[1]?.replace('HASH', String((JSON.parse(shown) as { hash: string }).hash)) ?? '');
  const headers = { 'content-type': 'application/json', 'x-svc-edge-tools': '1' };
  const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body });
  let events = '';
  for await (const part of answer.body ?? []) {
    events += Buffer.from(part).toString();
    const [, id] = /"approval_id":"(apr_[^"]+)"/.exec(events) ?? [];
    if (id === undefined || noted.length > 0 || events.includes('"state":"done"')) continue;
    t.strictSame(noted, [], 'nothing ran before');
    await svc(`approval approve ${id}`);
    events = events.replace('"approval_id"', '"approved"');
  }
  t.strictSame(noted, [{ text: 'the lamp is lit' }]);
  t.equal(contentOf(events), 'Noted.');
});

t.test('the commands of knowledge bases give cited answers from the documents of the repository', async (t) => {
  const block = firstBlock('docs/use/knowledge.md');
  const files = /^svc kb add (.*?)\s*#/m.exec(block)?.[1]?.split(' ') ?? [];
  const [, question = ''] = /^svc kb ask "(.*)"$/m.exec(block) ?? [];
  const [, path = '', body = ''] = /curl http:\/\/127\.0\.0\.1:8880(\/\S+)[\s\S]*?-d '([\s\S]*?)'/.exec(block) ?? [];
  const svc = (...args: string[]) => kb(t, process.cwd(), ...args);
  const startedAt = performance.now();
  const { added } = JSON.parse(await svc('add', ...files, '--json'));
  t.ok(added > 30, `${added} pages`);
  const isRight = ({ source, text }: { source: string; text: string }) =>
    /^(?:README\.md|docs\/.*)$/.test(source) && /8880/.test(text);
  const cited = /8880.* \[\d\]/s;
  const asked = JSON.parse(await svc('ask', question, '--json'));
  t.match(asked, { model: 'svc-chat-tiny', text: cited });
  t.ok(asked.citations.some(isRight), JSON.stringify(asked));
  const answered = JSON.parse(await post(`${server.url}${path}`, body));
  t.ok(answered.citations.some(isRight), JSON.stringify(answered));
  t.match(answered, {
    model: 'svc-chat-tiny',
    choices: [{ message: { content: cited, annotations: [{ type: 'url_citation' }] } }],
  });
  t.comment(`cited answers after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
});

/** What `svc kb` prints in a folder. */
async function kb(t: Test, cwd: string, ...words: string[]): Promise<string> {
  const env = { SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
  const { code, stdout, stderr } = await runCli(['kb', ...words], { env, cwd });
  t.equal(code, 0, `${words}: ${stderr}`);
  return stdout;
}

async function post(url: string, body: string): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return await response.text();
}

function contentOf(events: string): string {
  const parts = [...events.matchAll(/"delta":\{[^}]*"content":"((?:[^"\\]|\\.)*)"/g)];
  return parts.map(([, content]) => JSON.parse(`"${content}"`) as string).join('');
}

t.test("the operator's way: each command of it, in its order, on a node", async (t) => {
  const pages = ['install/package', 'operate/proxy', 'operate/backups', 'install/upgrade'];
  const way = pages.map((page) => firstBlock(`docs/${page}.md`)).join('');
  const commands = [...way.matchAll(/^(?:sudo -u svc )?svc (.*?)\s*(?:#.*|\|.*)?$/gm)].map(([, words = '']) => words);
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
  const [, path = ''] = /curl http:\/\/127\.0\.0\.1:8880(\/\S+) -H/.exec(way) ?? [];
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
    const models = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    t.match(await models.json(), { data: [{ id: 'svc-chat-tiny' }, {}] });
  }
  t.match(said['edge config'], /server_name ai\.example;/);
  t.match(said['backup verify'], /1 verified/);
  t.match(said['doctor'], /the schema is that of this version/);
});
