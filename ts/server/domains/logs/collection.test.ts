/** A node collects lines with a real rsyslog, in two copies, and a configuration that does not receive never replaces one that does. */
import { execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { freePort } from '../../../../test/child-server.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { createSelfSigned } from '../../platform/http/self-signed.ts';
import { eventually } from '../../platform/http/test-support/test-bed.ts';
import type { CollectionConfig } from './collection/collection-config.ts';
import { networkCondition } from './collection/networks.ts';
import { quoted } from './collection/quoted.ts';
import { findRsyslog } from './collection/rsyslog-runner.ts';
import { linesOf, openLogs, someConfig, whyNoRsyslog } from './test-support/logs-bed.ts';

const skip = whyNoRsyslog;

// rsyslog is started many times.
t.setTimeout(240_000);

type Bed = Awaited<ReturnType<typeof openLogs>>;

async function collect(t: Test, bed: Bed, config: CollectionConfig): Promise<void> {
  t.match(await bed.ask('PUT', 'rsyslog/config', config), { status: 200, body: { applied: false } });
  t.match(await bed.ask('POST', 'rsyslog/apply'), {
    status: 200,
    body: { applied_at: /Z$/, listeners: config.listen.length, restart_ms: Number },
  });
}

/** Sends lines by TCP, each ended by a newline. */
async function sendTcp(port: number, text: string): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  socket.end(text);
  socket.resume();
  await once(socket, 'close');
}

/** Tries until it succeeds: a listener is there a moment after its process. */
async function again(work: () => Promise<void>): Promise<void> {
  for (let nLeft = 100; ; nLeft--) {
    try {
      return await work();
    } catch (error) {
      if (nLeft === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

const line = (msg: string, { app = 'test', host = 'h1', pri = 13 } = {}): string =>
  `<${pri}>1 2026-01-02T03:04:05.678Z ${host} ${app} 1 - - ${msg}\n`;

async function arrives(copies: readonly string[], msg: string): Promise<void> {
  await eventually(() => copies.every((copy) => linesOf(copy).some((each) => each.msg === msg)));
}

t.test('without a configuration there is nothing to apply, to show or to repair', async (t) => {
  const { ask, module } = await openLogs(t);
  for (const [method, path] of [
    ['GET', 'rsyslog/config'],
    ['POST', 'rsyslog/apply'],
    ['POST', 'repair'],
  ] as const)
    t.match(await ask(method, path), { status: 409, body: { error: 'rsyslog_not_configured' } }, path);
  t.match(await ask('GET', 'status'), { status: 200, body: { reading: null, in_step: true, copies: [], applied_at: null } });
  t.strictSame(await module.health(), { state: {}, reasons: [], incidents: [] });
});

t.test('only superadmins collect', async (t) => {
  const { ask } = await openLogs(t);
  const config = await someConfig(t);
  for (const [method, path] of [
    ['GET', 'rsyslog/config'],
    ['PUT', 'rsyslog/config'],
    ['POST', 'rsyslog/apply'],
    ['GET', 'status'],
    ['POST', 'repair'],
  ] as const)
    t.equal((await ask(method, path, method === 'PUT' ? config : undefined, 'admin')).status, 403, path);
});

t.test('lines by UDP, TCP, TLS and RELP are in both copies under one uuid, by class', { skip }, async (t) => {
  const bed = await openLogs(t);
  const folder = newFolder(t);
  const server = await createSelfSigned({ folder: join(folder, 'server') });
  const client = await createSelfSigned({ folder: join(folder, 'client'), names: ['sender'], isForClients: true });
  const pem = (file: string): string => readFileSync(file, 'utf8');
  const tls = { cert: pem(server.certFile), key: pem(server.keyFile) };
  const ports = [await freePort(), await freePort(), await freePort(), await freePort(), await freePort()];
  const config = await someConfig(t, {
    listen: (['udp', 'tcp', 'tls', 'tls', 'relp'] as const).map((protocol, i) => ({
      protocol,
      address: '127.0.0.1',
      port: ports[i] as number,
      ...(i === 2 && { tls }),
      ...(i === 3 && { tls: { ...tls, ca: pem(client.certFile) } }),
    })),
    classes: [
      { name: 'auth', match: { app: 'sshd', contains: 'a "quoted" $word \\ here' } },
      { name: 'web', match: { host: 'web1' } },
    ],
    sources: [{ network: '127.0.0.0/8', class: 'local' }],
  });
  await collect(t, bed, config);

  const datagrams = createSocket('udp4');
  datagrams.send(line('by udp').trim(), ports[0], '127.0.0.1');
  await sendTcp(
    ports[1] as number,
    line('by tcp') + line('a "quoted" $word \\ here', { app: 'sshd' }) + line('of the web', { host: 'web1' }),
  );
  const secure = connectTls({ host: '127.0.0.1', port: ports[2] as number, rejectUnauthorized: false });
  await once(secure, 'secureConnect');
  secure.end(line('by tls'));
  const mutual = connectTls({
    host: '127.0.0.1',
    port: ports[3] as number,
    rejectUnauthorized: false,
    cert: pem(client.certFile),
    key: pem(client.keyFile),
  });
  await once(mutual, 'secureConnect');
  mutual.end(line('by mutual tls'));
  const stranger = connectTls({ host: '127.0.0.1', port: ports[3] as number, rejectUnauthorized: false });
  stranger.on('error', () => undefined);
  stranger.write(line('of a stranger'));
  for (const msg of ['by udp', 'by tcp', 'of the web', 'by tls', 'by mutual tls', 'a "quoted" $word \\ here'])
    await arrives(config.copies, msg);
  datagrams.close();
  stranger.destroy();

  const [a = [], b = []] = config.copies.map((copy) => linesOf(copy).sort((x, y) => (x.uuid < y.uuid ? -1 : 1)));
  t.strictSame(a, b, 'both copies have the same lines');
  t.notOk(
    a.some(({ msg }) => msg.includes('stranger')),
    'who shows no certificate is not heard',
  );
  const classOf = (msg: string) => a.find((each) => each.msg === msg)?.class;
  t.equal(classOf('of the web'), 'web');
  t.equal(classOf('a "quoted" $word \\ here'), 'auth');
  t.equal(classOf('by tcp'), 'local');
  t.match(
    a.find(({ msg }) => msg === 'by tcp'),
    {
      uuid: /^[0-9A-F]{32}$/,
      ts: '2026-01-02T03:04:05.678Z',
      rcvd: /^\d{4}-\d\d-\d\dT.*\+00:00$/,
      host: 'h1',
      fromhost_ip: '127.0.0.1',
      app: 'test',
      severity: 5,
      facility: 1,
    },
  );
  t.strictSame(Object.keys(a[0] ?? {}), [
    'uuid',
    'ts',
    'rcvd',
    'host',
    'fromhost_ip',
    'app',
    'severity',
    'facility',
    'class',
    'msg',
  ]);

  const shown = (await bed.ask('GET', 'rsyslog/config')).body;
  t.match(shown, { applied: true, listen: [{}, {}, { tls: { key: 'set', cert: tls.cert } }, {}, { protocol: 'relp' }] });
  const saved = readFileSync(join(bed.dataDir, 'logs.json'), 'utf8');
  t.notMatch(saved, 'PRIVATE KEY', 'keys are sealed');
  const { applied: _, ...again } = shown;
  t.match(await bed.ask('PUT', 'rsyslog/config', again), { status: 200 }, 'what is shown can be sent back');
  t.match(await bed.ask('POST', 'rsyslog/apply'), { status: 200 });

  const status = async () => (await bed.ask('GET', 'status')).body;
  t.match(await status(), {
    in_step: true,
    copies: config.copies.map((path) => ({ path, error: null, missing_lines: 0, free_bytes: Number })),
    rsyslog: { state: 'running', pid: Number, version: /^\d+\.\d+/ },
    applied_at: /Z$/,
  });
});

t.test('hostile lines end in one line each, and none stops the next', { skip }, async (t) => {
  const bed = await openLogs(t);
  const config = await someConfig(t);
  await collect(t, bed, config);
  const port = config.listen[0]?.port ?? 0;
  const hostile = [
    '<999>1 broken [x y',
    '<13>1 - - - - - [a b="c',
    '\u0000\u0001\u0007 controls',
    '{"uuid":"0","class":"auth"}","class":"forged"}',
    '"} \\" \\u0000 ../../../../etc/passwd %HOSTNAME% $msg',
    `<13>1 2026-01-01T00:00:00Z ${'h'.repeat(300)} ../../x 1 - - path`,
    'x'.repeat(70_000),
  ];
  const socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  for (const text of hostile) socket.write(`${text}\n`);
  socket.write(
    Buffer.concat([Buffer.from('<13>1 - h a - - - bytes '), Buffer.from([0xff, 0xfe, 0xc3, 0x28]), Buffer.from(' end\n')]),
  );
  socket.end(line('the last one'));
  socket.resume();
  await arrives(config.copies, 'the last one');
  const [a = [], b = []] = config.copies.map((copy) => linesOf(copy));
  t.equal(a.length, hostile.length + 2);
  t.strictSame(a.map(({ uuid }) => uuid).sort(), b.map(({ uuid }) => uuid).sort());
  t.ok(a.every((each) => each.class === 'other' && /^[0-9A-F]{32}$/.test(each.uuid)));
});

t.test('lines of networks that are not allowed are not kept', { skip }, async (t) => {
  const bed = await openLogs(t);
  const config = await someConfig(t, { allowed_networks: ['10.0.0.0/8', 'fd00:1:2:3::/64', '::1'] });
  await collect(t, bed, config);
  await sendTcp(config.listen[0]?.port ?? 0, line('from outside'));
  const open = { ...config, allowed_networks: ['127.0.0.1'] };
  await collect(t, bed, open);
  await sendTcp(config.listen[0]?.port ?? 0, line('from inside'));
  await arrives(config.copies, 'from inside');
  t.notOk(linesOf(config.copies[0] ?? '').some(({ msg }) => msg === 'from outside'));
});

t.test('a bad configuration ends in 422 with the words of what is wrong, and the old one receives', { skip }, async (t) => {
  const bed = await openLogs(t);
  const good = await someConfig(t);
  const port = good.listen[0]?.port ?? 0;
  await collect(t, bed, good);
  const folder = newFolder(t);
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const takenPort = (taken.address() as { port: number }).port;
  writeFileSync(join(folder, 'file'), '');
  symlinkSync(join(folder, 'nowhere', 'at', 'all'), join(folder, 'link'));
  mkdirSync(join(folder, 'taken'));
  writeFileSync(join(folder, 'taken', 'canary'), '');
  const certificate = await createSelfSigned({ folder: join(folder, 'tls') });
  const tls = { cert: readFileSync(certificate.certFile, 'utf8'), key: readFileSync(certificate.keyFile, 'utf8') };
  const listener = good.listen[0] as CollectionConfig['listen'][0];
  for (const [what, bad] of Object.entries({
    'a taken port': { listen: [{ ...listener, port: takenPort }] },
    'a taken port beside a free one': { listen: [listener, { ...listener, port: takenPort }] },
    'a foreign address': { listen: [{ ...listener, address: '192.0.2.1' }] },
    'a foreign address for datagrams': { listen: [{ ...listener, protocol: 'udp' as const, address: '192.0.2.1' }] },
    'a taken port for RELP': { listen: [{ ...listener, protocol: 'relp' as const, port: takenPort }] },
    'a copy whose parent is not there': { copies: [good.copies[0] ?? '', join(folder, 'not', 'there')] },
    'a copy that is a file': { copies: [good.copies[0] ?? '', join(folder, 'file')] },
    'a copy below a file': { copies: [good.copies[0] ?? '', join(folder, 'file', 'copy')] },
    'a copy that leads nowhere': { copies: [good.copies[0] ?? '', join(folder, 'link')] },
    'a copy in which a file has the name of a class': { copies: [good.copies[0] ?? '', join(folder, 'taken')] },
    'a foreign address of IPv6': { listen: [{ ...listener, address: '2001:db8::1' }] },
    'a taken port for TLS': { listen: [{ ...listener, protocol: 'tls' as const, port: takenPort, tls }] },
  })) {
    await bed.ask('PUT', 'rsyslog/config', { ...good, ...bad });
    const answer = await bed.ask('POST', 'rsyslog/apply');
    t.match(answer, { status: 422, body: { error: 'rsyslog_config_invalid', rsyslog: /./ } }, `${what}: ${answer.body?.rsyslog}`);
    await sendTcp(port, line(`after ${what}`));
    await arrives(good.copies, `after ${what}`);
    t.match((await bed.ask('GET', 'rsyslog/config')).body, { applied: false });
  }
  t.match((await bed.ask('GET', 'status')).body, { rsyslog: { state: 'running' } });
});

t.test('a first configuration that does not receive leaves nothing running', { skip }, async (t) => {
  const bed = await openLogs(t);
  const config = await someConfig(t);
  await bed.ask('PUT', 'rsyslog/config', { ...config, listen: [{ ...config.listen[0], address: '192.0.2.1' }] });
  t.match(await bed.ask('POST', 'rsyslog/apply'), { status: 422 });
  t.match((await bed.ask('GET', 'status')).body, { rsyslog: { state: 'stopped' }, applied_at: null });
  t.notOk(existsSync(join(bed.dataDir, 'logs', 'rsyslog.conf')));
});

t.test('values that cannot be are refused when they are sent', async (t) => {
  const { ask } = await openLogs(t);
  const good = await someConfig(t);
  const listener = good.listen[0] as CollectionConfig['listen'][0];
  const certificate = await createSelfSigned({ folder: newFolder(t) });
  const other = await createSelfSigned({ folder: newFolder(t) });
  const [cert, key] = [readFileSync(certificate.certFile, 'utf8'), readFileSync(other.keyFile, 'utf8')];
  for (const bad of [
    { listen: [] },
    { listen: [{ ...listener, port: 99_999 }] },
    { listen: [{ ...listener, port: 0 }] },
    { listen: [{ ...listener, protocol: 'http' }] },
    { listen: [{ ...listener, address: 'localhost' }] },
    { listen: [{ ...listener, address: '127.0.0.1"' }] },
    { listen: [listener, listener] },
    { listen: [{ ...listener, protocol: 'tls' }] },
    { listen: [{ ...listener, tls: { cert, key } }] },
    { listen: [{ ...listener, protocol: 'tls', tls: { cert: 'no PEM', key } }] },
    { listen: [{ ...listener, protocol: 'tls', tls: { cert, key: 'no PEM' } }] },
    { listen: [{ ...listener, protocol: 'tls', tls: { cert, key } }] },
    { listen: [{ ...listener, protocol: 'tls', tls: { cert, key: 'set' } }] },
    { allowed_networks: [] },
    { allowed_networks: ['10.0.0.0/33'] },
    { allowed_networks: ['fd00::/7'] },
    { allowed_networks: ['::1") then stop #'] },
    { sources: [{ network: '10.0.0.0/8', class: 'canary' }] },
    { sources: [{ network: '10.0.0.0/8', class: '../x' }] },
    { sources: [{ network: '10.0.0.0/8', class: 'x', tenant: 'nobody' }] },
    { classes: [{ name: 'x', match: {} }] },
    { classes: [{ name: 'x', match: { contains: 'a\nb' } }] },
    { copies: ['/var/tmp/a'] },
    { copies: ['/var/tmp/a', '/var/tmp/a'] },
    { copies: ['/var/tmp/a', '/var/tmp/a/b'] },
    { copies: ['/var/tmp/a', 'b'] },
    { copies: ['/var/tmp/a', '/proc/x'] },
    { copies: ['/var/tmp/a', '/var/tmp/../x'] },
    { copies: ['/var/tmp/a', '/var/tmp/b"c'] },
    { retention: { days: 0, bytes: 1_000_000 } },
    { unknown: 1 },
  ])
    t.match(
      await ask('PUT', 'rsyslog/config', { ...good, ...bad }),
      { status: 400, body: { error: 'invalid_request' } },
      JSON.stringify(bad).slice(0, 120),
    );
  t.match(await ask('GET', 'rsyslog/config'), { status: 409 });
});

t.test('no text leaves its quotes', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const isPlain = !/\p{Cc}/u.test(text);
      const written = isPlain ? quoted(text) : '""';
      return (
        /^"(?:[^"\\$]|\\["\\$])*"$/u.test(written) && (!isPlain || written.slice(1, -1).replace(/\\(["\\$])/g, '$1') === text)
      );
    }),
  );
  t.throws(() => quoted('a\nb'));
  t.equal(networkCondition('10.1.2.3/8'), '(ip42num($fromhost-ip) >= 167772160 and ip42num($fromhost-ip) <= 184549375)');
  t.equal(networkCondition('2001:0DB8:0001::/48'), '$fromhost-ip startswith "2001:db8:1:"');
  t.equal(networkCondition('2001:db8:0:1::/64'), undefined);
  t.equal(networkCondition('example.com'), undefined);
  t.end();
});

t.test('rsyslog is started again when it ends, and with the node; torn lines do not spoil the next', { skip }, async (t) => {
  const dataDir = join(newFolder(t), 'data');
  const config = await someConfig(t);
  const port = config.listen[0]?.port ?? 0;
  const first = await openLogs(t, { dataDir });
  await collect(t, first, config);
  await sendTcp(port, line('before the kill'));
  await arrives(config.copies, 'before the kill');
  const { pid } = (await first.ask('GET', 'status')).body.rsyslog;
  const [copy = ''] = config.copies;
  const file = join(copy, 'other', `${new Date().toISOString().slice(0, 13)}.jsonl`);
  process.kill(pid, 'SIGKILL');
  writeFileSync(file, '{"uuid":"torn', { flag: 'a' });
  await again(() => sendTcp(port, line('after the kill')));
  await arrives(config.copies.slice(1), 'after the kill');
  await eventually(() => readFileSync(file, 'utf8').includes('after the kill'));
  t.match(readFileSync(file, 'utf8'), /\{"uuid":"torn\n\{"uuid"/);
  rmSync(file);
  await first.stop();
  const second = await openLogs(t, { dataDir });
  t.match((await second.ask('GET', 'rsyslog/config')).body, { applied: true });
  await again(() => sendTcp(port, line('after a restart')));
  await arrives(config.copies.slice(1), 'after a restart');
});

t.test(
  'as a unit, rsyslog is ended by the node and started by the service manager, and goes on without the node',
  { skip },
  async (t) => {
    const dataDir = join(newFolder(t), 'data');
    const folder = join(dataDir, 'logs');
    const config = await someConfig(t);
    const port = config.listen[0]?.port ?? 0;
    // What the units do, without the rights that they add.
    const start = `[ -e ${folder}/rsyslog.conf ] && ${findRsyslog()} -n -f ${folder}/rsyslog.conf -i ${folder}/rsyslog.pid`;
    const manager = spawn('/bin/sh', ['-c', `while :; do ${start}; sleep 0.1; done`], { stdio: 'ignore', detached: true });
    t.teardown(() => process.kill(-(manager.pid ?? 0), 'SIGKILL'));
    const bed = await openLogs(t, { dataDir, runner: 'unit' });
    await collect(t, bed, config);
    const { pid } = (await bed.ask('GET', 'status')).body.rsyslog;
    await bed.ask('PUT', 'rsyslog/config', { ...config, listen: [{ ...config.listen[0], address: '192.0.2.1' }] });
    t.match(await bed.ask('POST', 'rsyslog/apply'), { status: 422, body: { rsyslog: /did not arrive/ } });
    await sendTcp(port, line('after a bad one'));
    await arrives(config.copies, 'after a bad one');
    t.not((await bed.ask('GET', 'status')).body.rsyslog.pid, pid);
    t.equal(readFileSync(join(folder, 'copies'), 'utf8'), `${config.copies.join('\n')}\n`);
    await bed.stop();
    await again(() => sendTcp(port, line('without the node')));
    await arrives(config.copies, 'without the node');
  },
);

t.test('the step before the start of the unit ends torn lines', (t) => {
  const folder = newFolder(t, ['copy', 'copy/other']);
  const file = join(folder, 'copy/other/2026-01-01T00.jsonl');
  const [, script = ''] =
    /^ExecStartPre=\/bin\/sh -c '(.*)'$/m.exec(readFileSync('packaging/system/svc-rsyslog.service', 'utf8')) ?? [];
  writeFileSync(join(folder, 'copies'), `${join(folder, 'copy')}\n${join(folder, 'absent')}\n`);
  const run = () => execFileSync('/bin/sh', ['-c', script.replaceAll('$$', '$').replace('/var/lib/svc/logs', folder)]);
  for (const [before, after] of [
    ['{}\n{"uuid":"torn', '{}\n{"uuid":"torn\n'],
    ['{}\n', '{}\n'],
    ['', ''],
  ] as const) {
    writeFileSync(file, before);
    run();
    t.equal(readFileSync(file, 'utf8'), after);
  }
  t.end();
});
