import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { pullRoutes } from '../../server/domains/inference/api/pull-routes.ts';
import { BrokenServer, sound } from '../../server/domains/inference/library/test-support/broken-server.ts';
import { writeTinyModel } from '../../server/domains/inference/library/test-support/tiny-model.ts';
import { createPulls } from '../../server/domains/inference/pulls/create-pulls.ts';
import { unenforced } from '../../server/domains/inference/test-support/unenforced.ts';
import { openTestBed } from '../../server/platform/http/test-support/test-bed.ts';
import { openJobs } from '../../server/platform/jobs/test-support/open-jobs.ts';
import { noEvents } from '../../server/platform/module/test-support/scripted-context.ts';
import { newSqliteDatabase } from '../../server/platform/storage/test-support/each-database.ts';
import { cliSetting } from '../cli-setting.ts';
import { program } from '../run-cli.ts';

// Each run of the program starts a process: half a second on an idle core.
t.setTimeout(300_000);

t.test('a model’s life: import, list, show, verify, damage, rm', async (t) => {
  const { root, modelsDir, run } = cliSetting(t);
  const bytes = await writeTinyModel(join(root, 'My-Model.gguf'));
  t.match((await run(['models', 'import', join(root, 'My-Model.gguf'), '--license', 'MIT', '--json'])).json(), {
    name: 'my-model',
    kind: 'chat',
    architecture: 'qwen3',
  });
  t.match((await run(['models', 'list'])).stdout, /my-model +chat +\S+ kB +F32 +here +ready/);
  t.match((await run(['models', 'show', 'my-model', '--json'])).json(), {
    installed: true,
    license: 'MIT',
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
  const { root, run } = cliSetting(t);
  writeFileSync(join(root, 'page.gguf'), '<html>');
  await writeTinyModel(join(root, 'm.gguf'));
  t.match(await run(['models', 'import', join(root, 'none.gguf')]), { code: 4 });
  t.match(await run(['models', 'import', join(root, 'page.gguf')]), { code: 5 });
  t.match(await run(['models', 'rm', '../m']), { code: 2 });
  await run(['models', 'import', join(root, 'm.gguf')]);
  t.match(await run(['models', 'import', join(root, 'm.gguf')]), { code: 6, stderr: /--force/ });
  t.match(await run(['models', 'show', 'nothing']), { code: 4 });
  t.match((await run(['models', 'show', 'bge-m3-q8_0', '--json'])).json(), { installed: false, license: 'MIT' });
});

t.test('the catalogue lists names, sizes and licenses', async (t) => {
  const { run } = cliSetting(t);
  const { stdout } = await run(['models', 'list', '--catalogue']);
  t.match(stdout, /bge-m3-q8_0 +embedding +635 MB +MIT/);
  t.match(stdout, /whisper-large-v3-turbo +speech/);
});

t.test('pull from a mirror: progress as plain lines, nothing beside JSON, a wrong hash ends with 5', async (t) => {
  const { root, modelsDir, run } = cliSetting(t);
  const server = await BrokenServer.start(sound(await writeTinyModel(join(root, 'source.gguf'), { tensorBytes: 400_000 })));
  t.teardown(() => server.stop());
  const env = { SVC_MODELS_MIRROR: server.base.href };
  const pulled = await run(['models', 'pull', 'owner/repo:tiny.gguf'], { env });
  t.equal(pulled.code, 0, pulled.stderr);
  t.match(pulled.stderr, /tiny\.gguf 100%/);
  t.notOk(pulled.stderr.includes('\r') || pulled.stderr.includes('\x1b'), 'no control characters');
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

t.test('pull through a running server: its job is followed to its end, and fails with it', async (t) => {
  const { root, modelsDir, run } = cliSetting(t);
  const mirror = await BrokenServer.start(sound(await writeTinyModel(join(root, 'source.gguf'), { tensorBytes: 400_000 })));
  t.teardown(() => mirror.stop());
  const { url: database, remove } = await newSqliteDatabase();
  t.teardown(remove);
  const { jobs } = await openJobs(t, database);
  const settings = { models_dir: join(root, 'of-the-server'), 'models.mirror': mirror.base.href, 'models.allowed_hosts': '' };
  const pulls = createPulls(settings, {}, { jobs, events: noEvents }, () => {});
  await jobs.start();
  pulls.start();
  const { url } = await openTestBed(t, pullRoutes({ pulls, jobs, security: unenforced }));
  const pull = (reference: string) => run(['models', 'pull', reference, '--server', '--url', url, '--json']);
  t.match((await pull('owner/repo:tiny.gguf')).json(), { state: 'done', result: { name: 'tiny' } });
  t.ok(existsSync(join(root, 'of-the-server', 'tiny.gguf')));
  t.notOk(existsSync(join(modelsDir, 'tiny.gguf')), 'not where the command runs');
  t.match(await pull('https://127.0.0.1/x.gguf'), { code: 1, stderr: /private network/ });
});

t.test('HF_ENDPOINT is a mirror too, and ours wins over it', async (t) => {
  const { root, run } = cliSetting(t);
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

t.test('Ctrl-C during a pull ends with 130 and keeps what came', async (t) => {
  const { root, modelsDir } = cliSetting(t);
  const bytes = await writeTinyModel(join(root, 'source.gguf'), { tensorBytes: 400_000 });
  const { promise: wasAsked, resolve: asked } = Promise.withResolvers<void>();
  const server = await BrokenServer.start((_request, response) => {
    response.writeHead(200, { 'content-length': bytes.length, etag: '"v1"' });
    response.write(bytes.subarray(0, 100_000), () => asked());
  });
  t.teardown(() => server.stop());
  const env = {
    ...process.env,
    SVC_MODELS_DIR: modelsDir,
    SVC_MODELS_SHIPPED: 'false',
    SVC_CONFIG: join(root, 'svc.toml'),
    SVC_MODELS_MIRROR: server.base.href,
  };
  const child = spawn(process.execPath, [program, 'models', 'pull', 'owner/repo:tiny.gguf', '--json'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = Promise.all([once(child, 'exit'), text(child.stderr)]);
  await wasAsked;
  const partial = join(modelsDir, 'tiny.gguf.partial');
  while (!existsSync(partial) || statSync(partial).size === 0) await new Promise(setImmediate);
  child.kill('SIGINT');
  const [[code], stderr] = await ended;
  t.equal(code, 130);
  t.match(JSON.parse(stderr), { error: { code: 'interrupted', exit_code: 130 } });
  t.strictSame(readdirSync(modelsDir).sort(), ['tiny.gguf.partial', 'tiny.gguf.partial.json'], 'and the lock is gone');
});
