/** Devices of a real node at the command line: a profile from the docs, readings, writes, an approval, a halt. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { newFolder } from '../ts/server/platform/files/test-support/new-folder.ts';
import { httpServer } from '../ts/server/platform/network/test-support/test-servers.ts';
import { sendJson } from './http.ts';
import { startServer } from './server.ts';

// A server and a few commands are started.
t.setTimeout(180_000);

const [simulated = '', meter = '', broker = ''] = [
  ...readFileSync('docs/use/devices.md', 'utf8').matchAll(/```json\n([\s\S]*?)```/g),
].map(([, block]) => block);

t.test('devices of the docs are added, read, written by approval, halted and removed', async (t) => {
  const folder = newFolder(t);
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const states = new Map([['switch.pump', 'off']]);
  const called: string[] = [];
  const home = await httpServer(t, (request, response) => {
    const { url = '', method, headers } = request;
    if (headers.authorization !== 'Bearer token-4711') return void response.writeHead(401).end();
    const now = new Date().toISOString();
    if (method === 'POST') {
      called.push(url);
      states.set('switch.pump', url.endsWith('turn_on') ? 'on' : 'off');
    }
    const state = { entity_id: 'switch.pump', state: states.get('switch.pump'), last_reported: now, attributes: { power: 12.5 } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(state));
  });
  const hosts = '10.0.0.7:502,http://127.0.0.1';
  const { url } = await startServer(t, { models: {}, env: { SVC_IOT_ALLOWED_HOSTS: hosts } });
  const { token } = await sendJson<{ token: string }>(url, '/api/v1/auth/register', {
    username: 'root',
    password: 'a lighthouse keeper',
  });
  const svc = (args: string[], input?: string) =>
    runCli([...args, '--url', url], { env: { SVC_API_KEY: token }, ...(input !== undefined && { input }) });

  t.match(await svc(['iot', 'add', file('a.json', simulated)]), { code: 0, stdout: /Greenhouse is dev_/ });
  t.match(await svc(['iot', 'add', file('b.json', meter)]), { code: 0 });
  t.match(await svc(['iot', 'add', file('c.json', broker), '--key-stdin'], 'password-4711\n'), { code: 0 });
  t.match(await svc(['iot', 'add', file('d.json', '{')]), { code: 2, stderr: /is no JSON/ });
  t.match(
    (await svc(['iot', 'devices'])).stdout,
    /Greenhouse +simulated +connected[\s\S]*Meter +modbus_tcp +offline[\s\S]*Tank +mqtt +offline/,
  );
  t.match(await svc(['iot', 'read', 'Greenhouse', 'temperature']), { code: 0, stdout: /^[\d.]+ Cel \(good/ });
  t.match(await svc(['iot', 'read', 'Tank', 'level']), { code: 1, stdout: /^- m \(offline/ });
  t.match(await svc(['iot', 'write', 'Tank', 'level', '2']), { code: 1, stderr: /cannot be reached/ });
  t.match(await svc(['iot', 'write', 'Greenhouse', 'door', 'true']), { code: 0, stdout: /door is true, verified/ });
  t.match(await svc(['iot', 'read', 'Nothing', 'x']), { code: 4, stderr: /no device Nothing/ });

  const asked = await svc(['iot', 'write', 'Greenhouse', 'setpoint', '8', '--json']);
  const { approval_id: approval } = asked.json() as { approval_id: string };
  t.match(await svc(['approval', 'approve', approval]), { code: 0, stdout: /is used[\s\S]*interlock_open/ }, 'the door is open');
  await svc(['iot', 'write', 'Greenhouse', 'door', 'false']);
  const again = ((await svc(['iot', 'write', 'Greenhouse', 'setpoint', '8', '--json'])).json() as { approval_id: string })
    .approval_id;
  t.match(await svc(['approval', 'approve', again]), { code: 0, stdout: /"verified":true/ });
  t.match((await svc(['approval', 'show', again])).stdout, /is used[\s\S]*"read_back":8/);
  t.match((await svc(['iot', 'show', 'Greenhouse'])).stdout, /setpoint +8 +Cel +good[\s\S]*setpoint +8 +verified/);

  const pump = {
    name: 'Pump',
    kind: 'homeassistant',
    connection: { url: home.origin, poll_seconds: 3600 },
    variables: [
      {
        name: 'on',
        type: 'boolean',
        access: 'read_write',
        read: { entity: 'switch.pump' },
        write: { entity: 'switch.pump', service_true: 'switch.turn_on', service_false: 'switch.turn_off' },
      },
      { name: 'power', unit: 'W', type: 'number', access: 'read', read: { entity: 'switch.pump', attribute: 'power' } },
    ],
  };
  t.match(await svc(['iot', 'add', file('e.json', JSON.stringify(pump)), '--key-stdin'], 'token-4711\n'), { code: 0 });
  t.match(await svc(['iot', 'write', 'Pump', 'on', 'true']), { code: 0, stdout: /on is true, verified/ });
  t.match((await svc(['iot', 'read', 'Pump', 'power'])).stdout, /^12\.5 W \(good/);
  states.set('switch.pump', 'unavailable');
  t.match(await svc(['iot', 'change', 'Pump', '--here']), { code: 0 });
  t.match(await svc(['iot', 'read', 'Pump', 'on']), { code: 1, stdout: /^- \(bad/ });
  t.strictSame(called, ['/api/services/switch/turn_on']);

  t.match(await svc(['iot', 'halt', 'smoke']), { code: 0, stdout: /halted for all tenants/ });
  t.match(await svc(['iot', 'write', 'Greenhouse', 'door', 'true']), { code: 1, stderr: /All writes are halted: smoke/ });
  t.match(await svc(['iot', 'resume']), { code: 0 });
  t.match(await svc(['iot', 'disable', 'Greenhouse']), { code: 0, stdout: /is disabled/ });
  t.match(await svc(['iot', 'enable', 'Greenhouse']), { code: 0 });
  const samples = await svc(['iot', 'history', 'Greenhouse', 'door', '--json']);
  t.ok((samples.json() as unknown[]).length > 0);
  t.match(await svc(['iot', 'rm', 'Greenhouse']), { code: 0 });
  const metrics = await (await fetch(`${url}/metrics`)).text();
  t.match(metrics, /svc_iot_writes_total\{kind="homeassistant",outcome="verified"\} 1/);
  t.notMatch((await svc(['audit', '--json'])).stdout, /4711/);
});
