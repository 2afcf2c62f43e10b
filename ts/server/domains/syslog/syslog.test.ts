/** Log lines reach syslog servers as RFC 5424 has them, and nobody waits for a server that takes none. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { freePort } from '../../../../test/child-server.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { createSelfSigned } from '../../platform/http/self-signed.ts';
import { eventually } from '../../platform/http/test-support/test-bed.ts';
import { datagramOf, frameOf, syslogLine } from './syslog-line.ts';
import { PROTOCOLS, targetOfSettings } from './target.ts';
import { openReceiver, type Receiver } from './test-support/receiver.ts';
import { openSyslog } from './test-support/syslog-bed.ts';

t.setTimeout(120_000);

const LINE = /^<(\d{1,3})>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([!-~]{1,255}) svc-kernel (\d+) - - (\S[\s\S]*)$/;
const host = '127.0.0.1';

function textsOf({ lines }: Receiver): string[] {
  return lines.map((line) => LINE.exec(line)?.[5] ?? `not RFC 5424: ${line}`);
}

/** Waits until a line arrives that holds the text. */
async function arrival(receiver: Receiver, text: string, withinMs?: number): Promise<string> {
  await eventually(() => receiver.lines.some((line) => line.includes(text)), withinMs);
  return receiver.lines.find((line) => line.includes(text)) ?? '';
}

t.test('without a server nothing is sent, and the setting says so', async (t) => {
  const { ask, log, stats, module } = await openSyslog(t);
  log.info('unheard');
  t.strictSame((await ask('GET', 'config')).body, {
    host: null,
    port: 514,
    protocol: 'udp',
    enabled: false,
    facility: 16,
    source: 'environment',
    tenants: {},
  });
  t.strictSame(await stats(), {
    queued: 0,
    sent_total: 0,
    dropped_total: 0,
    send_errors_total: 0,
    last_error: null,
    last_sent_at: null,
    tenants: {},
  });
  t.match(await ask('POST', 'test'), { status: 503, body: { error: 'syslog_not_configured' } });
  t.strictSame(await module.health(), { state: { forwarding: 'off' }, reasons: [] });
});

for (const protocol of PROTOCOLS) {
  t.test(`lines arrive by ${protocol} in their order, with their severity and the facility`, async (t) => {
    const certificate = await createSelfSigned({ folder: newFolder(t) });
    const receiver = await openReceiver(t, protocol, protocol === 'tls' ? { certificate } : {});
    const { ask, log, stats } = await openSyslog(t, { settings: { 'syslog.ca_cert': certificate.certFile } });
    const put = await ask('PUT', 'config', { host, port: receiver.port, protocol, facility: 'local3' });
    t.match(put, { status: 200, body: { host, port: receiver.port, protocol, enabled: true, facility: 19, source: 'saved' } });
    log.error('one', { a: 1, said: 'so "it" is', nested: { b: [1] } });
    log.warn('two');
    log.info('three über 日本', { password: 'secret' });
    log.debug('four\nforged <11>1 line\u0007');
    await arrival(receiver, 'four');
    const found = receiver.lines.map((line) => LINE.exec(line)).filter((match) => /^(one|two|three|four)/.test(match?.[5] ?? ''));
    t.strictSame(
      found.map((match) => [Number(match?.[1]), match?.[5]]),
      [
        [19 * 8 + 3, 'one a=1 said="so \\"it\\" is" nested={"b":[1]}'],
        [19 * 8 + 4, 'two'],
        [19 * 8 + 6, 'three über 日本 password="[redacted]"'],
        [19 * 8 + 7, 'four forged <11>1 line '],
      ],
    );
    t.ok(found.every((match) => Number(match?.[4]) === process.pid));
    const figures = await stats();
    t.match(figures, { queued: 0, dropped_total: 0, send_errors_total: 0, last_error: null, last_sent_at: /Z$/ });
    await eventually(() => receiver.lines.length >= figures.sent_total);
  });

  t.test(`a test line goes by ${protocol}, and what is wrong is said`, async (t) => {
    const certificate = await createSelfSigned({ folder: newFolder(t) });
    const receiver = await openReceiver(t, protocol, protocol === 'tls' ? { certificate } : {});
    const { ask, stats } = await openSyslog(t);
    await ask('PUT', 'config', { host: 'localhost', port: receiver.port, protocol });
    const destination = `${protocol}://localhost:${receiver.port}`;
    t.strictSame((await ask('POST', 'test')).body, { destination, sent: true });
    t.match(await arrival(receiver, 'syslog test'), LINE);
    await receiver.close();
    t.match((await ask('POST', 'test')).body, { destination, sent: false, error: /ECONNREFUSED/ });
    const { sent_total: sent, dropped_total: dropped, send_errors_total: failed } = await stats();
    t.ok(sent >= 1 && dropped >= 1 && failed >= 1);
  });
}

t.test('datagrams have 1,180 bytes at most and frames 8,000, both cut behind a whole character', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 400 }), (part, n) => {
      const line = part.repeat(n);
      const datagram = datagramOf(line);
      const [, count, framed] = /^(\d+) ([\s\S]*)$/.exec(frameOf(line).toString('latin1')) ?? [];
      const text = Buffer.from(framed ?? '', 'latin1').toString();
      const whole = Buffer.from(line).toString();
      return (
        datagram.length <= 1180 &&
        whole.startsWith(datagram.toString()) &&
        (datagram.length > 1176 || datagram.toString() === whole) &&
        Number(count) === framed?.length &&
        framed.length <= 8000 &&
        whole.startsWith(text) &&
        (framed.length > 7996 || text === whole)
      );
    }),
  );
  t.end();
});

t.test('no message or field makes a second line', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (message, value) => {
      const line = syslogLine({ time: '2026-01-01T00:00:00.000Z', level: 'info', message, fields: { value, [message]: 1 } }, 16);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      return /^<134>1 /.test(line) && !/[\u0000-\u001f\u007f-\u009f]/.test(line);
    }),
  );
  t.end();
});

t.test('each wrong member has its code, and nothing changes', async (t) => {
  const { ask } = await openSyslog(t);
  const before = (await ask('GET', 'config')).body;
  for (const [body, error] of [
    [{}, 'invalid_request'],
    [{ port: 514 }, 'invalid_request'],
    [{ enabled: true }, 'invalid_request'],
    [{ facility: 3 }, 'invalid_request'],
    [{ host: '' }, 'invalid_request'],
    [{ host: 5 }, 'invalid_request'],
    [{ host: null }, 'invalid_request'],
    [{ host: 'logs.example:514' }, 'invalid_request'],
    [{ host: 'a b' }, 'invalid_request'],
    [{ host: 'https://logs.example' }, 'invalid_request'],
    [{ host: `${'a'.repeat(64)}.example` }, 'invalid_request'],
    [{ host, enabled: 'yes' }, 'invalid_request'],
    [{ host, level: 'info' }, 'invalid_request'],
    [{ host, port: 0 }, 'invalid_port'],
    [{ host, port: 65_536 }, 'invalid_port'],
    [{ host, port: 1.5 }, 'invalid_port'],
    [{ host, port: '514' }, 'invalid_port'],
    [{ host, port: null }, 'invalid_port'],
    [{ host, protocol: 'relp' }, 'invalid_protocol'],
    [{ host, protocol: 'UDP' }, 'invalid_protocol'],
    [{ host, protocol: 1 }, 'invalid_protocol'],
    [{ host, facility: 24 }, 'invalid_facility'],
    [{ host, facility: -1 }, 'invalid_facility'],
    [{ host, facility: 1.5 }, 'invalid_facility'],
    [{ host, facility: 'local8' }, 'invalid_facility'],
    [{ host, facility: true }, 'invalid_facility'],
    [{ host, tenants: { nobody: { host } } }, 'invalid_tenant_route'],
    [{ host, tenants: { red: { host, port: 0 } } }, 'invalid_tenant_route'],
    [{ host, tenants: { red: {} } }, 'invalid_tenant_route'],
    [{ host, tenants: { red: null } }, 'invalid_tenant_route'],
    [{ host, tenants: { red: { host, facility: 3 } } }, 'invalid_tenant_route'],
    [{ host, tenants: [] }, 'invalid_request'],
  ] as const) {
    t.match(await ask('PUT', 'config', body), { status: 400, body: { error, detail: String } }, JSON.stringify(body));
  }
  for (const body of [{}, { host: '' }, { host, port: 0 }, { host, protocol: 'x' }, { host: 7 }])
    t.match(await ask('PUT', 'config/tenant/red', body), { status: 400, body: { error: 'invalid_tenant_route' } });
  t.match(await ask('PUT', 'config/tenant/nobody', { host }), { status: 400, body: { error: 'invalid_tenant_route' } });
  t.match(await ask('PUT', 'config', '{"host":'), { status: 400 });
  t.strictSame((await ask('GET', 'config')).body, before);
});

t.test('facilities have numbers and names', async (t) => {
  const { ask } = await openSyslog(t);
  for (const [facility, number] of [
    ['kern', 0],
    ['auth', 4],
    ['security', 4],
    ['authpriv', 10],
    ['Cron', 9],
    ['local0', 16],
    ['local7', 23],
    [0, 0],
    [23, 23],
  ] as const)
    t.match(await ask('PUT', 'config', { host: 'logs.example', facility }), { status: 200, body: { facility: number } });
});

t.test('what is saved survives a restart and wins over the environment; DELETE applies the environment at once', async (t) => {
  const dataDir = newFolder(t);
  const [environment, saved] = [await openReceiver(t, 'tcp'), await openReceiver(t, 'tcp')];
  const settings = { 'syslog.host': host, 'syslog.port': environment.port, 'syslog.protocol': 'tcp' };
  const first = await openSyslog(t, { settings, dataDir });
  t.match((await first.ask('GET', 'config')).body, { port: environment.port, source: 'environment', enabled: true });
  first.log.info('to the environment');
  await arrival(environment, 'to the environment');
  await first.ask('PUT', 'config', { host, port: saved.port, protocol: 'tcp' });
  await first.stop();
  const second = await openSyslog(t, { settings, dataDir });
  t.match((await second.ask('GET', 'config')).body, { port: saved.port, source: 'saved' });
  second.log.info('to the saved one');
  await arrival(saved, 'to the saved one');
  t.match(await second.ask('DELETE', 'config'), { status: 200, body: { port: environment.port, source: 'environment' } });
  second.log.info('to the environment again');
  await arrival(environment, 'to the environment again');
  t.notOk(saved.lines.some((line) => line.includes('environment again')));
  t.match(await second.ask('PUT', 'config', { enabled: false }), {
    body: { enabled: false, source: 'saved', port: environment.port },
  });
  second.log.info('to nobody');
  t.match(await second.ask('POST', 'test'), { status: 503 });
  t.match((await second.ask('PUT', 'config', { facility: 2 })).body, { enabled: false, facility: 2 }, 'what is off stays off');
  t.match((await second.ask('PUT', 'config', { enabled: true })).body, { enabled: true, facility: 2 });
  second.log.info('to somebody');
  await arrival(environment, 'to somebody');
  t.notOk(environment.lines.some((line) => line.includes('to nobody')));
  const [, priority] = /^<(\d+)>/.exec(await arrival(environment, 'to somebody')) ?? [];
  t.equal(Number(priority), 2 * 8 + 6);
});

t.test('SVC_SYSLOG_SERVER still names a server, and SVC_SYSLOG_HOST goes before it', (t) => {
  const given = (settings: object) => {
    const none = {
      'syslog.host': '',
      'syslog.server': '',
      'syslog.port': 514,
      'syslog.protocol': 'udp',
      'syslog.ca_cert': '',
      'syslog.allowed_hosts': '',
    } as const;
    return targetOfSettings({ ...none, 'syslog.client_cert': '', 'syslog.client_key': '', ...settings }).target;
  };
  t.equal(given({}), undefined);
  t.match(given({ 'syslog.server': 'logs.example:1514' }), { host: 'logs.example', port: 1514, protocol: 'udp' });
  t.match(given({ 'syslog.server': 'logs.example' }), { host: 'logs.example', port: 514 });
  t.match(given({ 'syslog.server': '[::1]:1514', 'syslog.protocol': 'tcp' }), { host: '::1', port: 1514, protocol: 'tcp' });
  t.match(given({ 'syslog.server': '::1' }), { host: '::1', port: 514 });
  t.match(given({ 'syslog.server': 'old:1', 'syslog.host': 'new', 'syslog.port': 2 }), { host: 'new', port: 2 });
  for (const wrong of [
    { 'syslog.server': 'a b:1' },
    { 'syslog.server': 'logs:0' },
    { 'syslog.server': 'logs:99999' },
    { 'syslog.host': 'logs:514' },
  ])
    t.throws(() => given(wrong), { code: 'invalid_setting' });
  t.throws(() => given({ 'syslog.client_cert': '/a.pem' }), { code: 'incomplete_tls' });
  t.end();
});

t.test('lines from before the module started are sent, once', async (t) => {
  const receiver = await openReceiver(t, 'tcp');
  const { log, module } = await openSyslog(t, {
    settings: { 'syslog.host': host, 'syslog.port': receiver.port, 'syslog.protocol': 'tcp' },
  });
  log.info('first run');
  await arrival(receiver, 'first run');
  await module.stop();
  log.info('while it is stopped');
  await module.start();
  log.info('second run');
  await arrival(receiver, 'second run');
  t.strictSame(
    textsOf(receiver).filter((text) => /run|stopped/.test(text)),
    ['first run', 'second run'],
  );
});

t.test(
  'a setting that cannot be saved holds all the same, and the answer says that it is lost with the next start',
  async (t) => {
    const receiver = await openReceiver(t, 'tcp');
    const { ask, log, dataDir } = await openSyslog(t);
    mkdirSync(join(dataDir, 'syslog.json'));
    const body = { host, port: receiver.port, protocol: 'tcp' };
    t.match(await ask('PUT', 'config', body), { status: 500, body: { error: 'syslog_config_not_saved' } });
    t.match((await ask('GET', 'config')).body, { port: receiver.port, source: 'saved' });
    log.info('it holds');
    await arrival(receiver, 'it holds');
    t.match(await ask('PUT', 'config/tenant/red', body), { status: 500, body: { error: 'syslog_config_not_saved' } });
    t.match(await ask('DELETE', 'config'), { status: 500, body: { error: 'syslog_config_not_saved' } });
    t.match((await ask('GET', 'config')).body, { host: null, source: 'environment' });
  },
);

t.test('a file that holds something else is told of, and does not keep the node from starting', async (t) => {
  const dataDir = newFolder(t, ['syslog.json']);
  const { ask, log } = await openSyslog(t, { dataDir });
  t.match((await ask('GET', 'config')).body, { source: 'environment' });
  t.ok(log.recent?.list().some(({ json }) => json.includes('syslog.json cannot be read')));
});

t.test("a tenant's lines go to its own server and the node's, nobody else's to its own", async (t) => {
  const [node, red] = [await openReceiver(t, 'tcp'), await openReceiver(t, 'udp')];
  const { ask, log, stats } = await openSyslog(t);
  await ask('PUT', 'config', { host, port: node.port, protocol: 'tcp' });
  const route = { host, port: red.port, protocol: 'udp' };
  t.match(await ask('PUT', 'config/tenant/red', { host, port: red.port }, 'admin red'), { status: 200, body: route });
  t.match((await ask('GET', 'config')).body.tenants, { red: route });
  for (const as of ['viewer blue', 'viewer red', 'viewer green']) await ask('GET', '/work', undefined, as);
  log.child({ job: 'j1', tenant: 'red' }).warn('a job of red');
  log.warn('of nobody', { nested: { tenant: 'red' } });
  log.info('the last one');
  await arrival(node, 'the last one');
  await arrival(red, 'a job of red');
  const work = (receiver: Receiver) => textsOf(receiver).filter((text) => text.includes('path=/work'));
  t.match(work(node), [/tenant=blue/, /tenant=red/, /tenant=green/]);
  t.match(work(red), [/tenant=red/]);
  t.equal(work(red).length, 1);
  t.ok(
    textsOf(red).every((text) => text.includes('tenant=red')),
    textsOf(red).join('\n'),
  );
  t.ok(textsOf(node).some((text) => text.includes('a job of red')));
  const own = await ask('GET', 'config/tenant/red', undefined, 'admin red');
  t.match(own.body, { ...route, stats: { queued: 0, dropped_total: 0 } });
  t.match((await stats()).tenants, { red: { send_errors_total: 0 } });
  t.match((await ask('POST', 'test', undefined, 'admin red')).body, { destination: `udp://${host}:${red.port}`, sent: true });
  t.match(await arrival(red, 'syslog test'), LINE);
  t.match(await ask('POST', 'test?tenant=red'), { status: 200, body: { sent: true } });
  t.match(await ask('PUT', 'config', { tenants: {} }), { body: { port: node.port, tenants: {} } });
  t.match(await ask('GET', 'config/tenant/red', undefined, 'admin red'), {
    status: 404,
    body: { error: 'syslog_route_not_found' },
  });
  t.match(await ask('DELETE', 'config/tenant/red'), { status: 404, body: { error: 'syslog_route_not_found' } });
});

t.test(
  'a route leads inside the network where the operator of the machine has named the server, and nowhere else there',
  async (t) => {
    const red = await openReceiver(t, 'tcp');
    const route = { host, port: red.port, protocol: 'tcp' };
    const settings = { 'syslog.allowed_hosts': `10.0.0.5:6514, ${host}:${red.port}` };
    const dataDir = t.testdir();
    const before = await openSyslog(t, { settings, dataDir });
    t.match(await before.ask('PUT', 'config/tenant/red', route, 'admin red'), { status: 200 });
    for (const host of ['10.0.0.5', '127.0.0.1', '169.254.169.254', '[::1]', 'localhost', 'db.localhost', '::ffff:10.1.2.3']) {
      const refused = {
        status: 400,
        body: { error: 'invalid_tenant_route', detail: /inside the network.*syslog\.allowed_hosts/ },
      };
      t.match(await before.ask('PUT', 'config/tenant/blue', { host, port: 80 }, 'admin blue'), refused, host);
      t.match(await before.ask('PUT', 'config', { tenants: { blue: { host, port: 80 } } }), refused, host);
    }
    await before.stop();
    const after = await openSyslog(t, { settings: { 'syslog.allowed_hosts': '' }, dataDir });
    const { body } = await after.ask('POST', 'test', undefined, 'admin red');
    t.match(body, { sent: false, error: /inside the network/ }, 'a route of before is judged when it is used');
    t.notMatch(red.lines.join('\n'), /syslog.test/);
  },
);

t.test('a route without a server of the node works, goes with DELETE, and with its tenant', async (t) => {
  const red = await openReceiver(t, 'tcp');
  const { ask, log, module, dataDir } = await openSyslog(t);
  const route = { host, port: red.port, protocol: 'tcp' };
  await ask('PUT', 'config/tenant/red', route, 'admin red');
  log.info('of red', { tenant: 'red' });
  await arrival(red, 'of red');
  t.match((await ask('GET', 'config')).body, { host: null, enabled: false, source: 'environment' });
  t.equal((await ask('DELETE', 'config/tenant/red', undefined, 'admin red')).status, 204);
  log.info('of red, later', { tenant: 'red' });
  await ask('PUT', 'config', { tenants: { red: route, blue: route } });
  t.match((await ask('GET', 'config')).body, { source: 'environment', tenants: { red: route, blue: route } });
  await module.belongings?.eraseTenant({ tenant: 'red' } as never);
  t.strictSame(Object.keys((await ask('GET', 'config')).body.tenants), ['blue']);
  t.strictSame(Object.keys(JSON.parse(readFileSync(join(dataDir, 'syslog.json'), 'utf8')).tenants), ['blue']);
  t.notOk(red.lines.some((line) => line.includes('later')));
});

t.test("the node's setting needs a superadmin, a route an administrator of that tenant", async (t) => {
  const { ask } = await openSyslog(t);
  const body = { host };
  for (const [method, path] of [
    ['GET', 'config'],
    ['PUT', 'config'],
    ['DELETE', 'config'],
    ['GET', 'stats'],
  ] as const)
    t.match(await ask(method, path, method === 'PUT' ? body : undefined, 'admin red'), { status: 403 }, `${method} ${path}`);
  for (const method of ['GET', 'PUT', 'DELETE'])
    for (const [as, tenant] of [
      ['developer red', 'red'],
      ['admin blue', 'red'],
      ['admin blue', 'nobody'],
    ] as const) {
      const sent = method === 'PUT' ? body : undefined;
      t.match(await ask(method, `config/tenant/${tenant}`, sent, as), { status: 403 }, `${method} ${tenant} as ${as}`);
    }
  t.match(await ask('POST', 'test', undefined, 'developer red'), { status: 403 });
  t.match(await ask('POST', 'test?tenant=red', undefined, 'admin blue'), { status: 403 });
  t.match(await ask('POST', 'test', undefined, 'admin blue'), { status: 503 });
  t.match(await ask('PUT', 'config/tenant/red', body, 'superadmin default'), { status: 200 });
});

/** Makes lines, and compares what came of them after a while. Returns milliseconds a line. */
async function balance(t: Test, { log, metrics }: Awaited<ReturnType<typeof openSyslog>>, nLines: number): Promise<number> {
  const last = (): number => log.recent?.list().at(-1)?.seq ?? 0;
  const counted = (): number => {
    const figures = metrics.expose().matchAll(/^svc_syslog_(?:queued|sent_total|dropped_total)\{to="node"\} (\d+)$/gm);
    return [...figures].reduce((sum, [, figure]) => sum + Number(figure), 0);
  };
  const [madeBefore, countedBefore] = [last(), counted()];
  const startedAt = performance.now();
  for (let n = 0; n < nLines; n++) log.info(`line ${n} of many`);
  const tookMs = performance.now() - startedAt;
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal(counted() - countedBefore, last() - madeBefore, 'sent + dropped + queued = made');
  return tookMs / nLines;
}

t.test('a server that refuses, resets or never reads costs lines and no time, and each line is counted once', async (t) => {
  for (const protocol of ['tcp', 'udp'] as const) {
    const bed = await openSyslog(t, { limits: { mostLines: 1000 } });
    const { ask, log, stats } = bed;
    await ask('PUT', 'config', { host, port: await freePort(), protocol });
    await eventually(() => log.recent?.list().some(({ json }) => json.includes('cannot be reached')) === true);
    const ms = await balance(t, bed, 5000);
    const figures = await stats();
    t.ok(figures.dropped_total > 0 && figures.send_errors_total > 0, `${protocol}: refused, ${ms.toFixed(4)} ms a line`);
    t.match(figures.last_error, /ECONNREFUSED/);
    if (protocol === 'tcp') t.equal(figures.queued, 1000, 'the oldest wait');
  }
  for (const behaviour of ['resets', 'deaf'] as const) {
    const receiver = await openReceiver(t, 'tcp', { behaviour });
    const bed = await openSyslog(t, { limits: { mostLines: 1000 } });
    const { ask, log, stats } = bed;
    await ask('PUT', 'config', { host, port: receiver.port, protocol: 'tcp' });
    const ms = await balance(t, bed, 200_000);
    const { dropped_total: dropped } = await stats();
    t.ok(dropped > 0, `${behaviour}: ${dropped} dropped, ${ms.toFixed(4)} ms a line`);
    receiver.behaviour = 'reads';
    if (behaviour === 'deaf') receiver.cut();
    log.info('it reads now');
    await eventually(() => receiver.lines.length > 0, 20_000);
  }
});

t.test('a full queue drops the newest: what waited arrives when the server is there, in its order', async (t) => {
  const port = await freePort();
  const { ask, log, stats, module } = await openSyslog(t, { limits: { mostLines: 50 } });
  await ask('PUT', 'config', { host, port, protocol: 'tcp' });
  await eventually(() => log.recent?.list().some(({ json }) => json.includes('cannot be reached')) === true);
  t.match(await module.health(), {
    state: { forwarding: 'failing', protocol: 'tcp' },
    reasons: [{ code: 'syslog_unreachable', detail: /do not reach/ }],
  });
  t.notMatch(JSON.stringify(await module.health()), host, 'without the address');
  for (let n = 0; n < 200; n++) log.info(`numbered ${n}`);
  t.equal((await stats()).queued, 50);
  const receiver = await openReceiver(t, 'tcp', { port });
  await eventually(() => receiver.lines.length >= 50);
  const numbers = textsOf(receiver).flatMap((text) => /^numbered (\d+)$/.exec(text)?.[1] ?? []);
  t.strictSame(
    numbers.map(Number),
    numbers.map((_, n) => n),
    'the first ones, without a gap',
  );
  await eventually(() => log.recent?.list().some(({ json }) => json.includes('takes lines again')) === true);
  t.match(await module.health(), { state: { forwarding: 'on' }, reasons: [] });
  receiver.cut();
  log.info('after a cut');
  log.info('and once more');
  await arrival(receiver, 'once more');
});

t.test('a few long lines fill the queue as well', async (t) => {
  const { ask, log, stats } = await openSyslog(t, { limits: { mostChars: 100_000 } });
  await ask('PUT', 'config', { host, port: await freePort(), protocol: 'tcp' });
  for (let n = 0; n < 30; n++) log.info('x'.repeat(10_000));
  const { queued, dropped_total: dropped } = await stats();
  t.ok(queued <= 12 && dropped >= 18, `${queued} wait, ${dropped} were dropped`);
});

t.test('lines that wait go to the server that takes the place of one that is gone', async (t) => {
  const { ask, log } = await openSyslog(t);
  await ask('PUT', 'config', { host, port: await freePort(), protocol: 'tcp' });
  log.info('it waits');
  const receiver = await openReceiver(t, 'udp');
  await ask('PUT', 'config', { host, port: receiver.port });
  await arrival(receiver, 'it waits');
});

t.test('with a CA the certificate and its name are checked; without one health says that they are not', async (t) => {
  const [own, foreign] = [await createSelfSigned({ folder: newFolder(t) }), await createSelfSigned({ folder: newFolder(t) })];
  const receiver = await openReceiver(t, 'tls', { certificate: own });
  const target = { host: 'localhost', port: receiver.port, protocol: 'tls' };

  const checked = await openSyslog(t, { settings: { 'syslog.ca_cert': own.certFile } });
  await checked.ask('PUT', 'config', target);
  t.match((await checked.ask('POST', 'test')).body, { sent: true });
  t.match(await checked.module.health(), { state: { server_verified: true }, reasons: [] });
  await checked.ask('PUT', 'config', { ...target, host: '127.0.0.2' });
  t.match((await checked.ask('POST', 'test')).body, { sent: false });

  const wrong = await openSyslog(t, { settings: { 'syslog.ca_cert': foreign.certFile } });
  await wrong.ask('PUT', 'config', target);
  t.match((await wrong.ask('POST', 'test')).body, { sent: false, error: /certificate/ });

  const unseen = await openSyslog(t);
  await unseen.ask('PUT', 'config', target);
  t.match((await unseen.ask('POST', 'test')).body, { sent: true });
  t.match(await unseen.module.health(), { state: { server_verified: false }, reasons: [{ code: 'syslog_unverified' }] });

  const missing = await openSyslog(t, { settings: { 'syslog.ca_cert': '/nowhere/ca.pem' } });
  await missing.ask('PUT', 'config', target);
  t.match((await missing.ask('POST', 'test')).body, { sent: false, error: /nowhere/ });
});

t.test('a name that the certificate does not have is refused', async (t) => {
  const certificate = await createSelfSigned({ folder: newFolder(t) });
  const receiver = await openReceiver(t, 'tls', { certificate });
  const { ask } = await openSyslog(t, { settings: { 'syslog.ca_cert': certificate.certFile } });
  // It resolves to this machine wherever it is asked, and is no name of the certificate.
  await ask('PUT', 'config', { host: 'other.localhost', port: receiver.port, protocol: 'tls' });
  t.match((await ask('POST', 'test')).body, { sent: false, error: /altnames|ENOTFOUND/ });
});

t.test('the own certificate is shown, and a renewed one with the next connection', async (t) => {
  const folder = newFolder(t);
  const server = await createSelfSigned({ folder: newFolder(t) });
  const ofClient = async (name: string) => createSelfSigned({ folder: newFolder(t), names: [name], isForClients: true });
  const [first, renewed] = [await ofClient('first'), await ofClient('renewed')];
  const tls = { requestCert: true, rejectUnauthorized: true, ca: [readFileSync(renewed.certFile)] };
  const receiver = await openReceiver(t, 'tls', { certificate: server, tls });
  const show = (from: typeof first) => {
    copyFileSync(from.certFile, join(folder, 'cert.pem'));
    copyFileSync(from.keyFile, join(folder, 'key.pem'));
  };
  show(first);
  const { ask, log, stats } = await openSyslog(t, {
    settings: {
      'syslog.ca_cert': server.certFile,
      'syslog.client_cert': join(folder, 'cert.pem'),
      'syslog.client_key': join(folder, 'key.pem'),
    },
  });
  await ask('PUT', 'config', { host: 'localhost', port: receiver.port, protocol: 'tls' });
  t.match((await ask('POST', 'test')).body, { sent: false, error: /closed|reset|alert|certificate/i });
  log.info('it waits for the renewal');
  await eventually(() => log.recent?.list().some(({ json }) => json.includes('cannot be reached')) === true);
  t.strictSame(receiver.lines, []);
  show(renewed);
  t.match((await ask('POST', 'test')).body, { sent: true });
  log.info('behind the renewal');
  await arrival(receiver, 'behind the renewal', 20_000);
  await arrival(receiver, 'it waits for the renewal');
  t.ok((await stats()).send_errors_total >= 1);
});

t.test('metrics count what the figures count', async (t) => {
  const receiver = await openReceiver(t, 'tcp');
  const { ask, log, metrics, stats } = await openSyslog(t);
  await ask('PUT', 'config', { host, port: receiver.port, protocol: 'tcp' });
  await ask('PUT', 'config/tenant/red', { host, port: await freePort(), protocol: 'tcp' });
  log.info('of red', { tenant: 'red' });
  await arrival(receiver, 'of red');
  const figures = await stats();
  const [, sent] = /^svc_syslog_sent_total\{to="node"\} (\d+)$/m.exec(metrics.expose()) ?? [];
  t.ok(Number(sent) >= figures.sent_total, `${sent} of at least ${figures.sent_total}`);
  t.match(metrics.expose(), /^svc_syslog_queued\{to="tenant"\} [1-9]/m);
  t.match(metrics.expose(), /^svc_syslog_send_errors_total\{to="tenant"\} [1-9]/m);
});
