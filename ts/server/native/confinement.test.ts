import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { type Confinement, confinedCommand, describeConfinementGap, describeProbe } from './confinement.ts';

const script = fileURLToPath(new URL('./test-support/confined-attempt.ts', import.meta.url));
const limits = { memoryMiB: 1024, cpuSeconds: 20 };
const skip = process.platform === 'linux' ? false : 'only Linux has the launcher';

interface End {
  output: string;
  code: number | null;
  signal: NodeJS.Signals | null;
}

async function attempt(name: string, target = '', changes: Partial<Confinement> = {}): Promise<End> {
  const program = [process.execPath, '--no-warnings', script, name, target];
  const { file, args } = confinedCommand(program, { ...limits, readable: [script], ...changes });
  const child = spawn(file, args, { env: {}, stdio: ['ignore', 'pipe', 'ignore'] });
  const output = text(child.stdout);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', async (code, signal) => resolve({ output: await output, code, signal }));
  });
}

t.test('this system has all that confinement needs', { skip }, async (t) => {
  t.equal(await describeConfinementGap(), undefined);
});

t.test('the named file can be read', { skip }, async (t) => {
  const path = join(t.testdir({ 'model.gguf': 'x' }), 'model.gguf');
  t.match(await attempt('read', path, { readable: [script, path] }), { output: 'done', code: 0 });
});

t.test('no other file can be read, beside the named one or in /etc', { skip }, async (t) => {
  const folder = t.testdir({ 'model.gguf': 'x', 'svc.sqlite': 'secret' });
  const readable = [script, join(folder, 'model.gguf')];
  t.match(await attempt('read', join(folder, 'svc.sqlite'), { readable }), { output: 'EACCES' });
  t.match(await attempt('read', '/etc/passwd', { readable }), { output: 'EACCES' });
  t.match(await attempt('read', `/proc/${process.pid}/environ`, { readable }), { output: 'EACCES' });
});

t.test('nothing can be written, not even where reading is allowed', { skip }, async (t) => {
  const folder = t.testdir({ 'model.gguf': 'whole' });
  const path = join(folder, 'model.gguf');
  const readable = [script, folder];
  for (const name of ['write', 'truncate', 'remove', 'rename', 'chmod']) {
    t.match(await attempt(name, path, { readable }), { output: /^(EACCES|EPERM)$/ }, name);
  }
  t.match(await attempt('create', folder, { readable }), { output: 'EACCES' });
  t.match(await attempt('create', '/tmp', { readable }), { output: 'EACCES' });
  t.equal(await readFile(path, 'utf8'), 'whole');
});

t.test('there is no network, not even to this machine', { skip }, async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  t.match(await attempt('connect', String(port)), { output: 'EPERM' });
  t.match(await attempt('connect unix', '/run/any.sock'), { output: 'EPERM' });
  t.match(await attempt('listen'), { output: 'EPERM' });
});

t.test('files are made, changed and removed in a writable folder, and nowhere else', { skip }, async (t) => {
  const root = t.testdir({ inside: { a: 'whole', b: 'whole' }, outside: { a: 'whole' } });
  const [inside, outside] = [join(root, 'inside'), join(root, 'outside')];
  const writable = { folders: [inside], fileMiB: 1 };
  for (const name of ['read', 'write', 'truncate', 'rename'])
    t.match(await attempt(name, join(inside, 'a'), { writable }), { output: 'done' }, name);
  t.match(await attempt('create', inside, { writable }), { output: 'done' });
  t.match(await attempt('remove', join(inside, 'b'), { writable }), { output: 'done' });
  t.match(await attempt('write much', join(inside, 'new'), { writable }), { output: 'EFBIG' });
  for (const name of ['read', 'write', 'truncate', 'remove', 'rename'])
    t.match(await attempt(name, join(outside, 'a'), { writable }), { output: /^(EACCES|EPERM|EXDEV)$/ }, name);
  t.match(await attempt('create', outside, { writable }), { output: 'EACCES' });
  t.match(await attempt('chmod', join(inside, 'new'), { writable }), { output: 'EPERM' });
  t.equal(await readFile(join(outside, 'a'), 'utf8'), 'whole');
  t.match(await attempt('spawn', '/bin/true', { writable }), { output: 'EPERM' });
});

t.test('with the network, sockets of this machine that are files stay closed', { skip }, async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  t.match(await attempt('connect', String(port), { hasNetwork: true }), { output: 'done' });
  t.match(await attempt('connect unix', '/run/any.sock', { hasNetwork: true }), { output: 'EPERM' });
  t.match(await attempt('read', '/etc/passwd', { hasNetwork: true }), { output: 'EACCES' });
});

t.test('a server that may be asked alone connects to nobody', { skip }, async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  t.match(await attempt('listen', '', { mayListen: true }), { output: 'done' });
  t.match(await attempt('connect', String(port), { mayListen: true }), { output: /^(EPERM|EACCES)$/ });
  t.match(await attempt('connect unix', '/run/any.sock', { mayListen: true }), { output: 'EPERM' });
  t.match(await attempt('send', String(port), { mayListen: true }), { output: /^(EPERM|EACCES)$/ });
  t.match(await attempt('read', '/etc/passwd', { mayListen: true }), { output: 'EACCES' });
});

t.test('no process can be started, and another program ends the process', { skip }, async (t) => {
  t.match(await attempt('spawn', '/bin/true'), { output: 'EPERM' });
  t.match(await attempt('exec', process.execPath), { output: '', signal: 'SIGSYS' });
});

t.test('other processes of the same user are out of reach', { skip }, async (t) => {
  t.match(await attempt('signal', String(process.pid)), { output: 'EPERM' });
  t.match(await attempt('prioritise', String(process.pid)), { output: /EACCES|EPERM|ERR_SYSTEM_ERROR/ });
});

t.test('groups and capabilities are gone, also for root', { skip }, async (t) => {
  const { output } = await attempt('privileges');
  const lines = (JSON.parse(output) as string[]).map((line) => line.replace(/\s+/g, ' ').trim());
  if (process.getuid?.() === 0) t.ok(lines.includes('Groups:') && lines.includes('CapBnd: 0000000000000000'));
  t.ok(lines.includes('CapEff: 0000000000000000'));
  t.ok(lines.includes('NoNewPrivs: 1') && lines.includes('Seccomp: 2'));
});

t.test('too much memory ends the process', { skip }, async (t) => {
  const { output, code, signal } = await attempt('allocate', '', { memoryMiB: 512 });
  t.not(output, 'done');
  t.ok(signal !== null || code !== 0 || /ALLOCATION|memory/i.test(output));
});

t.test('too much CPU time ends the process', { skip }, async (t) => {
  t.match(await attempt('spin', '', { cpuSeconds: 1 }), { signal: 'SIGKILL' });
});

t.test('a limit that cannot be read ends the launcher before the program', { skip }, async (t) => {
  const { file, args } = confinedCommand(['/bin/true'], { ...limits, memoryMiB: -1, readable: [] });
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  t.match(await text(child.stderr), /^svc_confine: --memory-mib needs a whole number, not '-1'/);
});

t.test('without the launcher, a shell sets the limits that it can, and the log hears of it', { skip }, async (t) => {
  const before = process.env['SVC_NATIVE_DIR'];
  process.env['SVC_NATIVE_DIR'] = t.testdir();
  t.teardown(() => {
    if (before === undefined) delete process.env['SVC_NATIVE_DIR'];
    else process.env['SVC_NATIVE_DIR'] = before;
  });
  t.match(await describeConfinementGap(), /svc_confine is missing in .*: install the package again/);
  t.match(await attempt('read', '/etc/passwd'), { output: 'done' });
  t.match(await attempt('spin', '', { cpuSeconds: 1 }), { signal: 'SIGKILL' });
});

t.test('what a kernel lacks is named', (t) => {
  t.equal(describeProbe('landlock=1 seccomp=1'), undefined);
  t.match(describeProbe('landlock=0 seccomp=1'), /no Landlock, so/);
  t.match(describeProbe('landlock=0 seccomp=0'), /no Landlock and no seccomp filters/);
  t.match(describeProbe('spawn EACCES'), /does not run here: spawn EACCES/);
  t.end();
});
