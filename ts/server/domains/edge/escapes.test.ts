/** Programs that try to get out of their process, by `code.run` and as a plugin: none reads, changes, reaches, starts or holds up anything. */
import { createSocket } from 'node:dgram';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { callerOf, openEdge } from './test-support/edge-bed.ts';
import { ESCAPES } from './test-support/escapes.ts';

const admin = callerOf('usr_admin', 'admin');
const skip = process.platform === 'linux' ? false : 'only Linux confines programs';
const SECRET_TEXT = 'the planted secret';
const SECONDS = 2;

/** The things that programs try to reach, and what shows that one did. */
async function openWorld(t: Test) {
  const folder = newFolder(t);
  const secret = join(folder, 'secret.mjs');
  writeFileSync(secret, `// ${SECRET_TEXT}\nexport const found = 1;\n`);
  let nReached = 0;
  const reached = (): void => {
    nReached += 1;
  };
  const tcp = createServer(reached).listen(0);
  const socketPath = join(folder, 'any.sock');
  const unix = createServer(reached).listen(socketPath);
  const udp = createSocket('udp4', reached).bind(0, '127.0.0.1');
  await Promise.all([tcp, unix, udp].map((each) => new Promise((resolve) => each.once('listening', () => resolve(undefined)))));
  t.teardown(() => {
    tcp.close();
    unix.close();
    udp.close();
  });
  const { mode, mtimeMs } = statSync(secret);
  const names = {
    SECRET: secret,
    FOLDER: folder,
    PORT: (tcp.address() as AddressInfo).port,
    UDP: udp.address().port,
    SOCKET: socketPath,
    PID: process.pid,
  };
  const head = Object.entries(names)
    .map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`)
    .join(' ');
  const problems = (said: string): string[] => [
    ...(said.includes('GOT') ? [`it says that it got something: ${said.slice(0, 300)}`] : []),
    ...(said.includes(SECRET_TEXT) ? ['it read the secret'] : []),
    ...(nReached > 0 ? ['it reached a listener'] : []),
    ...(readdirSync(folder).sort().join() === 'any.sock,secret.mjs' ? [] : [`the folder holds ${readdirSync(folder)}`]),
    ...(readFileSync(secret, 'utf8').startsWith(`// ${SECRET_TEXT}\n`) ? [] : ['it changed the secret']),
    ...(statSync(secret).mode === mode && statSync(secret).mtimeMs === mtimeMs ? [] : ['it changed rights or times']),
    ...[`/tmp/svc-escape-${process.pid}`, `/dev/shm/svc-escape-${process.pid}`].filter((path) =>
      statSync(path, { throwIfNoEntry: false }),
    ),
  ];
  return { head, problems };
}

t.test('there are sixty attempts and more, each another one', async (t) => {
  t.ok(ESCAPES.length >= 60, `${ESCAPES.length}`);
  t.equal(new Set(ESCAPES.map(({ what }) => what)).size, ESCAPES.length);
});

t.test('programs of code.run stay where they are', { skip }, async (t) => {
  const { head, problems } = await openWorld(t);
  const bed = await openEdge(t, { settings: { 'tools.code_at_once': 3 } });
  const attempt = async ({ what, code, isEndless = false }: (typeof ESCAPES)[number]) => {
    const seconds = isEndless ? SECONDS : 30;
    const call = { language: 'javascript', code: `${head} ${code}`, timeout_seconds: seconds };
    const { body } = await bed.execute(admin, 'code.run', { arguments: call });
    t.strictSame(problems(JSON.stringify(body)), [], what);
    const { error, is_cut: isCut = false } = body.result ?? {};
    t.ok(typeof error === 'string' || isCut, `${what}: it is answered with an error, or with more than anybody reads`);
  };
  const left = [...ESCAPES];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await attempt(next);
  };
  await Promise.all([work(), work(), work()]);
  t.equal(
    (await bed.execute(admin, 'code.run', { arguments: { language: 'javascript', code: 'return 1' } })).body.result.result,
    '1',
  );
});

t.test('plugins stay where they are', { skip }, async (t) => {
  const { head, problems } = await openWorld(t);
  const dataDir = join(newFolder(t), 'data');
  const folder = join(dataDir, 'plugins', 'escape');
  mkdirSync(folder, { recursive: true });
  const input = { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] };
  const tools = [{ name: 'attempt', description: 'Tries.', input, effect: 'read' }];
  const manifest = { id: 'escape', name: 'Escape', version: '1', license: 'MIT', entry: 'main.mjs', tools };
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify(manifest));
  const source = `const F = (async () => {}).constructor; export const tools = { attempt: ({ code }, host) => new F('host', code)(host) };`;
  writeFileSync(join(folder, 'main.mjs'), source);
  const bed = await openEdge(t, { dataDir });
  t.equal((await bed.ask('POST', '/api/v1/edge/plugins/escape/enable', admin, {})).status, 200);
  const attempt = async (code: string, seconds: number) =>
    (
      await bed.execute(admin, 'plugin.escape.attempt', {
        arguments: { code: `${head} ${code}` },
        timeout_seconds: seconds,
      })
    ).body;
  for (const { what, code, isEndless = false } of ESCAPES) {
    const body = await attempt(code, isEndless ? SECONDS : 30);
    t.strictSame(problems(JSON.stringify(body)), [], what);
    t.notMatch(body, { ok: true }, `${what}: it is no success`);
  }
  const more = [
    `return 'GOT ' + (await (await host.fetch('http://127.0.0.1:' + PORT)).text())`,
    `return 'GOT ' + process.env.PATH.length`,
  ];
  for (const code of more) t.strictSame(problems(JSON.stringify(await attempt(code, 10))), [], code);
  t.match(await attempt('return 1', 30), { ok: true, result: 1 });
});
