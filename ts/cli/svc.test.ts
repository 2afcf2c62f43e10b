import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { BrokenServer, sound } from '../server/domains/inference/library/broken-server.ts';
import { writeTinyModel } from '../server/domains/inference/library/tiny-model.ts';
import { exitCodes } from './exit-codes.ts';
import { type CliOptions, runCli } from './run-cli.ts';

// Each run of the program starts a process: half a second on an idle core.
t.setTimeout(180_000);

/** A program with folders of its own and no configuration file. */
function setting(t: Test) {
  const root = t.testdir({ models: {}, data: {}, 'svc.toml': '' });
  const env = { SVC_MODELS_DIR: join(root, 'models'), SVC_DATA_DIR: join(root, 'data'), SVC_CONFIG: join(root, 'svc.toml') };
  const run = (args: string[], options: CliOptions = {}) => runCli(args, { ...options, env: { ...env, ...options.env } });
  return { root, modelsDir: join(root, 'models'), run };
}

t.test('help: an overview with the exit codes, a page for each command', async (t) => {
  const { run } = setting(t);
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
  const { run } = setting(t);
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { version: string };
  t.match((await run(['version', '--json'])).json(), { version });
  t.match((await run(['--version'])).stdout, `svc ${version} `);
});

t.test('usage errors end with 2 and help, on standard error, as text and as JSON', async (t) => {
  const { run } = setting(t);
  const wrong = await run(['modles', 'list']);
  t.match(wrong, { code: 2, stdout: '', stderr: /did you mean models\?/ });
  const json = await run(['models', 'list', '--jsn', '--json']);
  t.equal(json.code, 2);
  t.match(JSON.parse(json.stderr), { error: { code: 'usage', message: /did you mean --json\?/, exit_code: 2 } });
});

t.test('config tells every value and where it came from; wrong values name themselves', async (t) => {
  const { root, run } = setting(t);
  writeFileSync(join(root, 'svc.toml'), '[inference]\nthreads = 3\n');
  const found = (await run(['config', '--json'], { env: { SVC_LISTEN: '127.0.0.1:9' } })).json() as { key: string }[];
  const setting1 = (key: string) => found.find((each) => each.key === key);
  t.match(setting1('listen'), { value: '127.0.0.1:9', origin: 'environment SVC_LISTEN' });
  t.match(setting1('inference.threads'), { value: 3, origin: /^file .*svc\.toml$/ });
  t.match(setting1('log.level'), { origin: 'default' });
  t.match(await run(['config'], { env: { SVC_INFERENCE_THREADS: 'many' } }), { code: 2, stderr: /inference\.threads.*many/s });
  t.match(await run(['config', '--config', join(root, 'none.toml')]), { code: 2 });
});

t.test('config masks secrets', async (t) => {
  const { run } = setting(t);
  const shown = await run(['config'], { env: { SVC_MODELS_MIRROR: 'https://me:hunter2@mirror.example' } });
  t.match(shown.stdout, /mirror\.example/);
  t.notMatch(shown.stdout, /hunter2/);
});

t.test('a model’s life: import, list, show, verify, damage, rm', async (t) => {
  const { root, modelsDir, run } = setting(t);
  const bytes = await writeTinyModel(join(root, 'My-Model.gguf'));
  t.match((await run(['models', 'import', join(root, 'My-Model.gguf'), '--licence', 'MIT', '--json'])).json(), {
    name: 'my-model',
    kind: 'chat',
    architecture: 'qwen3',
  });
  t.match((await run(['models', 'list'])).stdout, /my-model +chat +\S+ kB +F32 +ready/);
  t.match((await run(['models', 'show', 'my-model', '--json'])).json(), {
    installed: true,
    licence: 'MIT',
    usable: true,
    removable: true,
  });
  t.match(await run(['models', 'verify', '--json']), { code: 0 });
  bytes[bytes.length - 1] = 1;
  writeFileSync(join(modelsDir, 'my-model.gguf'), bytes);
  t.match(await run(['models', 'verify', 'my-model']), { code: 5, stdout: /failed.*was recorded/ });
  t.match(await run(['models', 'rm', 'my-model', 'not-here']), { code: 4 });
  t.strictSame(readdirSync(modelsDir).sort(), ['my-model.gguf', 'my-model.json'], 'a mistyped name deletes nothing');
  t.match(await run(['models', 'rm', 'my-model']), { code: 0, stdout: /deleted/ });
  t.strictSame(readdirSync(modelsDir), []);
});

t.test('exit codes of the library', async (t) => {
  const { root, run } = setting(t);
  writeFileSync(join(root, 'page.gguf'), '<html>');
  await writeTinyModel(join(root, 'm.gguf'));
  t.match(await run(['models', 'import', join(root, 'none.gguf')]), { code: 4 });
  t.match(await run(['models', 'import', join(root, 'page.gguf')]), { code: 5 });
  t.match(await run(['models', 'rm', '../m']), { code: 2 });
  await run(['models', 'import', join(root, 'm.gguf')]);
  t.match(await run(['models', 'import', join(root, 'm.gguf')]), { code: 6, stderr: /--force/ });
  t.match(await run(['models', 'show', 'nothing']), { code: 4 });
  t.match((await run(['models', 'show', 'bge-m3-q8_0', '--json'])).json(), { installed: false, licence: 'MIT' });
});

t.test('the catalogue lists names, sizes and licences', async (t) => {
  const { run } = setting(t);
  const { stdout } = await run(['models', 'list', '--catalogue']);
  t.match(stdout, /bge-m3-q8_0 +embedding +635 MB +MIT/);
  t.match(stdout, /whisper-large-v3-turbo +speech/);
});

t.test('pull from a mirror: progress as plain lines, nothing beside JSON, a wrong hash ends with 5', async (t) => {
  const { root, modelsDir, run } = setting(t);
  const server = await BrokenServer.start(sound(await writeTinyModel(join(root, 'source.gguf'), { tensorBytes: 400_000 })));
  t.teardown(() => server.stop());
  const env = { SVC_MODELS_MIRROR: server.base.href };
  const pulled = await run(['models', 'pull', 'owner/repo:tiny.gguf'], { env });
  t.equal(pulled.code, 0, pulled.stderr);
  t.match(pulled.stderr, /tiny\.gguf 100%/);
  t.notMatch(pulled.stderr, /[\r\x1b]/);
  t.match(readdirSync(modelsDir), ['tiny.gguf', 'tiny.json']);
  const json = await run(['models', 'pull', 'owner/repo:tiny.gguf', '--name', 'second', '--json'], { env });
  t.match(json.json(), { name: 'second', already_here: false, files: [{ file: 'second.gguf' }] });
  t.equal(json.stderr, '');
  const wrong = await run(['models', 'pull', 'owner/repo:tiny.gguf', '--name', 'third', '--sha256', '0'.repeat(64), '--json'], {
    env,
  });
  t.equal(wrong.code, 5);
  t.match(JSON.parse(wrong.stderr), { error: { code: 'verification_failed', exit_code: 5 } });
  const hopeless = await run(['models', 'pull', 'http://127.0.0.1.nip.example/x.gguf']);
  t.match(hopeless, { code: 1, stderr: /plain http/ });
});

t.test('HF_ENDPOINT is a mirror too, and ours wins over it', async (t) => {
  const { root, run } = setting(t);
  const server = await BrokenServer.start(sound(await writeTinyModel(join(root, 'source.gguf'))));
  t.teardown(() => server.stop());
  t.match(await run(['models', 'pull', 'owner/repo:a.gguf'], { env: { HF_ENDPOINT: server.base.href } }), { code: 0 });
  t.match(
    await run(['models', 'pull', 'owner/repo:b.gguf'], {
      env: { HF_ENDPOINT: 'http://127.0.0.1:1', SVC_MODELS_MIRROR: server.base.href },
    }),
    { code: 0 },
  );
  t.match(await run(['models', 'pull', 'owner/repo:b.gguf'], { env: { HF_ENDPOINT: 'nonsense' } }), { code: 2 });
});

t.test('no server: 3, and how to start one', async (t) => {
  const { run } = setting(t);
  const env = { SVC_LISTEN: '127.0.0.1:9' };
  for (const args of [['status'], ['chat', 'hello']]) t.match(await run(args, { env }), { code: 3, stderr: /svc serve/ });
  t.match(JSON.parse((await run(['status', '--json'], { env })).stderr), { error: { code: 'unreachable', exit_code: 3 } });
  t.match(await run(['status', '--url', 'nonsense']), { code: 2 });
});

t.test('serve refuses a model file that is missing or damaged before it listens', async (t) => {
  const { root, run } = setting(t);
  writeFileSync(join(root, 'page.gguf'), '<html>');
  t.match(await run(['serve', '--port', '0', '--model', join(root, 'none.gguf')]), { code: 4 });
  t.match(await run(['serve', '--port', '0', '--model', join(root, 'page.gguf')]), { code: 5 });
});

t.test('doctor says what is broken and what to do, and ends with 1', async (t) => {
  const { root, run } = setting(t);
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
  const { run } = setting(t);
  const found = await run(['doctor', '--json'], { env: { SVC_LISTEN: 'here:99999:x' } });
  t.equal(found.code, 1);
  t.match(found.json(), { ok: false, checks: [{ name: 'configuration', state: 'broken', finding: /listen/ }] });
});
