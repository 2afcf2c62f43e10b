/**
 * The things that confined programs try: each is the body of an async function, which prints or returns `GOT` and what it got. `SECRET` is a file that it
 * must not read, `FOLDER` one that it must not change, `PORT`, `UDP` and `SOCKET` lead to listeners, and `PID` is the server's own process.
 */

interface Escape {
  readonly what: string;
  readonly code: string;
  /** It ends by its limit of time or memory, and nothing else. */
  readonly isEndless?: boolean;
}

const read = (what: string, path: string): Escape => ({
  what: `read ${what}`,
  code: `return 'GOT ' + (await import('node:fs')).readFileSync(${path}, 'utf8').slice(0, 200)`,
});
const change = (what: string, code: string): Escape => ({
  what: `change files: ${what}`,
  code: `const fs = await import('node:fs'); ${code}; return 'GOT'`,
});
const dial = (what: string, code: string): Escape => ({
  what: `network: ${what}`,
  code: `const met = (o, e) => new Promise((y, n) => o.once(e, y).once('error', n)); ${code}; return 'GOT'`,
});
const start = (what: string, code: string): Escape => ({
  what: `processes: ${what}`,
  code: `const cp = await import('node:child_process'); const os = await import('node:os'); ${code}; return 'GOT'`,
});
const exhaust = (what: string, code: string): Escape => ({ what: `exhaust ${what}`, code, isEndless: true });

/** Throws where the child could not be started. */
const spawned = (call: string) => `const r = ${call}; if (r.error) throw r.error; return 'GOT ' + r.stdout`;

export const ESCAPES: readonly Escape[] = [
  read('a file of the user', 'SECRET'),
  read('it by another path', `SECRET.replace('/', '//../') `),
  read('it through the root of the process', `'/proc/self/root' + SECRET`),
  read('it through the folder of the process', `'/proc/self/cwd' + SECRET`),
  read('it through the server', `'/proc/' + PID + '/root' + SECRET`),
  read('the environment of the server', `'/proc/' + PID + '/environ'`),
  read('the memory map of the server', `'/proc/' + PID + '/maps'`),
  read('the environment of the first process', `'/proc/1/environ'`),
  read('accounts', `'/etc/passwd'`),
  read('passwords', `'/etc/shadow'`),
  read('the names of the machine', `'/etc/hosts'`),
  read('the log of the system', `'/var/log/syslog'`),
  read('keys of root', `'/root/.ssh/id_rsa'`),
  read('the memory of the machine', `'/dev/mem'`),
  { what: 'list a folder', code: `return 'GOT ' + (await import('node:fs')).readdirSync(FOLDER)` },
  { what: 'list the root', code: `return 'GOT ' + (await import('node:fs')).readdirSync('/')` },
  { what: 'list processes', code: `return 'GOT ' + (await import('node:fs')).readdirSync('/proc')` },
  { what: 'import a file as a module', code: `return 'GOT ' + Object.keys(await import('file://' + SECRET))` },
  { what: 'load an addon', code: `process.dlopen({ exports: {} }, SECRET); return 'GOT'` },
  { what: 'inherit a descriptor', code: `return 'GOT ' + (await import('node:fs')).readFileSync(3, 'utf8')` },
  change('write', `fs.writeFileSync(SECRET, 'x')`),
  change('create', `fs.writeFileSync(FOLDER + '/new', 'x')`),
  change('create in /tmp', `fs.writeFileSync('/tmp/svc-escape-' + PID, 'x')`),
  change('create in shared memory', `fs.writeFileSync('/dev/shm/svc-escape-' + PID, 'x')`),
  change('append', `fs.appendFileSync(SECRET, 'x')`),
  change('truncate', `fs.truncateSync(SECRET, 0)`),
  change('remove', `fs.unlinkSync(SECRET)`),
  change('remove a folder', `fs.rmSync(FOLDER, { recursive: true })`),
  change('rename', `fs.renameSync(SECRET, SECRET + '.moved')`),
  change('make a folder', `fs.mkdirSync(FOLDER + '/new')`),
  change('link', `fs.linkSync(SECRET, FOLDER + '/link')`),
  change('a symbolic link', `fs.symlinkSync(SECRET, FOLDER + '/link')`),
  change('rights', `fs.chmodSync(SECRET, 0o777)`),
  change('an owner', `fs.chownSync(SECRET, 12345, 12345)`),
  change('times', `fs.utimesSync(SECRET, 0, 0)`),
  change('a copy', `fs.copyFileSync(SECRET, FOLDER + '/copy')`),
  change('the memory of the server', `fs.writeFileSync('/proc/' + PID + '/mem', 'x')`),
  change('its chance to be ended for memory', `fs.writeFileSync('/proc/self/oom_score_adj', '-1000')`),
  dial('TCP', `await met((await import('node:net')).connect(PORT, '127.0.0.1'), 'connect')`),
  dial('TCP over IPv6', `await met((await import('node:net')).connect(PORT, '::1'), 'connect')`),
  dial('fetch', `await fetch('http://127.0.0.1:' + PORT)`),
  dial(
    'a WebSocket',
    `await new Promise((y, n) => { const w = new WebSocket('ws://127.0.0.1:' + PORT); w.onopen = y; w.onerror = () => n(new Error('no')); })`,
  ),
  dial(
    'UDP',
    `const s = (await import('node:dgram')).createSocket('udp4'); await new Promise((y, n) => { s.on('error', n); s.send('x', UDP, '127.0.0.1', (e) => (e ? n(e) : y())); })`,
  ),
  dial('a socket of the machine', `await met((await import('node:net')).connect(SOCKET), 'connect')`),
  dial('listen', `await met((await import('node:net')).createServer().listen(0), 'listening')`),
  dial('ask for a name', `await (await import('node:dns/promises')).resolve4('example.com')`),
  start('run a program', spawned(`cp.spawnSync('/bin/cat', [SECRET])`)),
  start('run a shell', `return 'GOT ' + cp.execSync('cat ' + SECRET, { timeout: 2000 })`),
  start('run itself again', spawned(`cp.spawnSync(process.execPath, ['-e', '1'])`)),
  start('fork', `await new Promise((y, n) => cp.fork(SECRET).on('error', n).on('exit', (c) => (c === 0 ? y() : n(c))))`),
  start('become another program', `process.execve('/bin/cat', ['cat', SECRET])`),
  start('end the server', `process.kill(PID, 'SIGKILL')`),
  start('stop the server', `process.kill(PID, 'SIGSTOP')`),
  start('end every process', `process.kill(-1, 'SIGKILL')`),
  start('slow the server down', `os.setPriority(PID, 19)`),
  start('go before the server', `os.setPriority(0, -20)`),
  start('be somebody else', `process.setuid(12345)`),
  exhaust('memory by buffers', `const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1))`),
  exhaust(
    'memory by texts',
    `let s = 'x'; const all = []; for (;;) { s = (s + s).slice(0, 1 << 28); all.push(s + all.length + 'y'.repeat(1 << 20)); }`,
  ),
  exhaust(
    'memory by WebAssembly',
    `const all = []; for (;;) all.push(new WebAssembly.Memory({ initial: 1024 }), new Uint8Array(1 << 24).fill(1))`,
  ),
  exhaust(
    'threads',
    `const { Worker } = await import('node:worker_threads'); for (;;) { new Worker('for(;;);', { eval: true }); await new Promise((y) => setTimeout(y, 5)); }`,
  ),
  exhaust('time in a loop', `for (;;);`),
  exhaust('time in a pattern', `return /^(a+)+$/.test('a'.repeat(64) + 'b')`),
  exhaust('time in promises', `const f = () => Promise.resolve().then(f); await f()`),
  exhaust(
    'time against signals',
    `process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); await new Promise((y) => setInterval(() => {}, 1))`,
  ),
  exhaust('the server by output', `const { writeSync } = await import('node:fs'); for (;;) writeSync(1, 'x'.repeat(65536))`),
  exhaust(
    'the server by messages',
    `const { writeSync } = await import('node:fs'); for (;;) writeSync(1, '{"output":"x","log":"x"}\\n'.repeat(1000))`,
  ),
];
