import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BrokenServer } from '../server/domains/inference/library/test-support/broken-server.ts';
import { cliSetting } from './cli-setting.ts';
import { exitCodes } from './exit-codes.ts';

// Each run of the program starts a process: half a second on an idle core.
t.setTimeout(300_000);

t.test('help: an overview with the exit codes, a page for each command', async (t) => {
  const { run } = cliSetting(t);
  const all = await run([]);
  t.equal(all.code, 0);
  for (const { code, meaning } of Object.values(exitCodes)) t.match(all.stdout, `${code}  ${meaning}`);
  const pages = [
    ['help', 'models', 'pull'],
    ['models', 'pull', '--help'],
    ['models', 'pull', '-h'],
  ];
  const [first, ...others] = await Promise.all(pages.map((args) => run(args)));
  t.match(first?.stdout, /Usage: svc models pull MODEL \[options\]/);
  for (const page of others) t.equal(page.stdout, first?.stdout);
  t.match((await run(['help', '--json'])).json(), { commands: [{ command: 'serve' }], exit_codes: { usage: { code: 2 } } });
});

t.test('version, as a command and as an option', async (t) => {
  const { run } = cliSetting(t);
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { version: string };
  t.match((await run(['version', '--json'])).json(), { version });
  t.match((await run(['--version'])).stdout, `svc ${version} `);
});

t.test('usage errors end with 2 and help, on standard error, as text and as JSON', async (t) => {
  const { run } = cliSetting(t);
  const wrong = await run(['modles', 'list']);
  t.match(wrong, { code: 2, stdout: '', stderr: /did you mean models\?/ });
  const json = await run(['models', 'list', '--jsn', '--json']);
  t.equal(json.code, 2);
  t.match(JSON.parse(json.stderr), { error: { code: 'usage', message: /did you mean --json\?/, exit_code: 2 } });
});

t.test('config tells every value and where it came from; wrong values name themselves', async (t) => {
  const { root, run } = cliSetting(t);
  writeFileSync(join(root, 'svc.toml'), '[inference]\nthreads = 3\n');
  const found = (await run(['config', '--json'], { env: { SVC_LISTEN: '127.0.0.1:9' } })).json() as { key: string }[];
  const setting = (key: string) => found.find((each) => each.key === key);
  t.match(setting('listen'), { value: '127.0.0.1:9', origin: 'environment SVC_LISTEN' });
  t.match(setting('inference.threads'), { value: 3, origin: /^file .*svc\.toml$/ });
  t.match(setting('log.level'), { origin: 'default' });
  t.match(await run(['config'], { env: { SVC_INFERENCE_THREADS: 'many' } }), { code: 2, stderr: /inference\.threads.*many/s });
  t.match(await run(['config', '--config', join(root, 'none.toml')]), { code: 2 });
});

t.test('config masks secrets', async (t) => {
  const { run } = cliSetting(t);
  const shown = await run(['config'], { env: { SVC_MODELS_MIRROR: 'https://me:hunter2@mirror.example' } });
  t.match(shown.stdout, /mirror\.example/);
  t.notMatch(shown.stdout, /hunter2/);
});

t.test('no server: 3, and how to start one', async (t) => {
  const { run } = cliSetting(t);
  const env = { SVC_LISTEN: '127.0.0.1:9' };
  for (const args of [['status'], ['chat', 'hello']]) t.match(await run(args, { env }), { code: 3, stderr: /svc serve/ });
  t.match(JSON.parse((await run(['status', '--json'], { env })).stderr), { error: { code: 'unreachable', exit_code: 3 } });
  t.match(await run(['status', '--url', 'nonsense']), { code: 2 });
});

t.test('serve refuses a model file that is missing or damaged before it listens', async (t) => {
  const { root, run } = cliSetting(t);
  writeFileSync(join(root, 'page.gguf'), '<html>');
  t.match(await run(['serve', '--port', '0', '--model', join(root, 'none.gguf')]), { code: 4 });
  t.match(await run(['serve', '--port', '0', '--model', join(root, 'page.gguf')]), { code: 5 });
});

t.test('doctor says what is broken and what to do, and ends with 1', async (t) => {
  const { root, run } = cliSetting(t);
  const server = await BrokenServer.start((_request, response) => void response.writeHead(404).end());
  t.teardown(() => server.stop());
  mkdirSync(join(root, 'blocked'));
  writeFileSync(join(root, 'blocked', 'file'), '');
  const found = await run(['doctor', '--json'], {
    env: { SVC_LISTEN: server.base.host, SVC_FORCE_CPU_FEATURES: 'none', SVC_DATA_DIR: join(root, 'blocked', 'file', 'data') },
  });
  t.equal(found.code, 1);
  const { checks } = found.json() as { checks: { name: string; state: string; remedy?: string }[] };
  const check = (name: string) => checks.find((each) => each.name === name);
  t.match(check('listener'), { state: 'broken', finding: /another program listens/, remedy: /SVC_LISTEN/ });
  t.match(check('models'), { state: 'broken', remedy: /svc models pull/ });
  t.match(check('node'), { state: 'ok' });
  t.match(check('data folder'), { state: 'broken', remedy: /SVC_DATA_DIR/ });
  if (process.arch === 'x64' || process.arch === 'arm64') t.match(check('cpu'), { state: 'broken' });
  for (const { state, remedy } of checks) t.equal(state === 'ok', remedy === undefined, 'a remedy for all that is not well');
});

t.test('doctor reports a wrong configuration as a finding', async (t) => {
  const { run } = cliSetting(t);
  const found = await run(['doctor', '--json'], { env: { SVC_LISTEN: 'here:99999:x' } });
  t.equal(found.code, 1);
  t.match(found.json(), { ok: false, checks: [{ name: 'configuration', state: 'broken', finding: /listen/ }] });
});

t.test('bench hands its arguments on unread, options that svc knows too', async (t) => {
  const { run } = cliSetting(t);
  t.match(await run(['bench', '--help']), { code: 0, stdout: /--report .*\n +--json/s });
  const wrong = await run(['bench', 'nothing', '--json']);
  t.equal(wrong.code, 2);
  t.match(JSON.parse(wrong.stderr), { error: { code: 'bench_failed', message: /name a suite: http, serving/ } });
});
