/** The places that lines go to: what is saved, what wins, what is refused, and the routes of tenants. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { targetOfSettings } from './target.ts';
import { arrival, LINE, openReceiver, type Receiver, textsOf } from './test-support/receiver.ts';
import { openSyslog } from './test-support/syslog-bed.ts';

t.setTimeout(120_000);

const host = '127.0.0.1';

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
