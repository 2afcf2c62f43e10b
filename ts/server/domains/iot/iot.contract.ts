/** Devices, readings, histories and keys on both databases. */
import type { Test } from 'tap';
import { httpServer } from '../../platform/network/test-support/test-servers.ts';
import { systemScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { History, HOUR_MS } from './history.ts';
import { iot } from './index.ts';
import type { IotTables } from './tables.ts';
import { admin, callerOf, developer, greenhouse, modbusServer, openIot, viewer } from './test-support/iot-bed.ts';

const stranger = callerOf('usr_eve', 'admin', { tenant: 'blue' });

function testIot(t: Test, newDatabase: NewDatabase): void {
  t.test('a device is added, listed, changed and removed, and to others it is not there', async (t) => {
    const bed = await openIot(t, { databaseUrl: await newUrl(t, newDatabase) });
    const id = await bed.add(greenhouse);
    const path = `/api/v1/iot/devices/${id}`;
    t.match((await bed.ask('GET', '/api/v1/iot/devices', viewer)).body.data, [
      {
        id,
        name: 'Greenhouse',
        kind: 'simulated',
        variables: [{ name: 'temperature', unit: 'Cel', min: 5, max: 30, approval: 'none' }],
      },
    ]);
    for (const [method, body] of [['GET'], ['PATCH', { name: 'Mine' }], ['DELETE']] as const)
      t.equal((await bed.ask(method, path, stranger, body)).status, 404, method);
    t.equal((await bed.read(id, 'door', stranger)).status, 404);
    t.equal((await bed.ask('GET', `/api/v1/iot/history?device_id=${id}&variable=door`, stranger)).status, 404);
    t.match((await bed.ask('GET', '/api/v1/iot/devices', stranger)).body, { data: [] });
    t.equal((await bed.ask('POST', '/api/v1/iot/devices', developer, greenhouse)).status, 403);
    t.match(await bed.ask('POST', '/api/v1/iot/devices', admin, greenhouse), { status: 409, body: { error: 'device_exists' } });
    t.equal((await bed.ask('POST', '/api/v1/iot/devices', stranger, greenhouse)).status, 201, 'names are those of a tenant');
    t.match((await bed.ask('PATCH', path, admin, { enabled: false })).body, { state: 'disabled' });
    t.match((await bed.read(id, 'door')).body, { quality: 'offline' });
    t.match((await bed.ask('PATCH', path, admin, { enabled: true, name: 'Hall' })).body, { name: 'Hall' });
    t.match((await bed.read(id, 'door')).body, { value: false, quality: 'good' });
    t.equal((await bed.ask('DELETE', path, admin)).status, 204);
    t.equal((await bed.ask('GET', path, viewer)).status, 404);
    t.match(
      bed.acts.map(({ action }) => action).filter((action) => action.startsWith('iot.device')),
      ['iot.device.add', 'iot.device.add', 'iot.device.change', 'iot.device.change', 'iot.device.remove'],
    );
  });

  t.test('a profile that does not fit together is refused, and so is a host that nobody named', async (t) => {
    const bed = await openIot(t, { databaseUrl: await newUrl(t, newDatabase) });
    const variable = { name: 'x', type: 'number', access: 'read_write', min: 0, max: 9 };
    const register = { register: 0, area: 'holding', type: 'int16' };
    const modbus = (more: object, host = '127.0.0.1') => ({
      kind: 'modbus_tcp',
      connection: { host, port: 1502 },
      variables: [{ ...variable, ...more }],
    });
    const wrong: [object, string][] = [
      [{ variables: [variable, variable] }, 'variables[1].name'],
      [{ variables: [{ ...variable, min: 10 }] }, 'variables[0].min'],
      [{ variables: [{ ...variable, max: undefined }] }, 'variables[0].min'],
      [{ variables: [{ ...variable, type: 'boolean' }] }, 'variables[0]'],
      [{ variables: [{ ...variable, interlocks: [{ variable: 'y', equals: 1 }] }] }, 'variables[0].interlocks[0].variable'],
      [{ variables: [{ ...variable, interlocks: [{ variable: 'x', equals: true }] }] }, 'variables[0].interlocks[0].equals'],
      [{ variables: [{ ...variable, read: { wave: 1 } }] }, 'variables[0].read.wave'],
      [{ connection: { url: 'http://127.0.0.1' } }, 'connection.url'],
      [modbus({}), 'variables[0].read.register'],
      [modbus({ read: { ...register, area: 'input' } }), 'variables[0].read.area'],
      [modbus({ read: { ...register, area: 'coil' } }), 'variables[0].read.type'],
      [modbus({ read: { ...register, scale: 0 } }), 'variables[0].read.scale'],
      [modbus({ read: register, max: 40_000 }), 'variables[0].read'],
      [modbus({ read: register }, '127.0.0.2'), ''],
      [
        {
          kind: 'mqtt',
          connection: { url: 'mqtt://broker.example:1883' },
          variables: [{ ...variable, access: 'read', read: { topic: 'a' } }],
        },
        '',
      ],
      [
        {
          kind: 'http',
          connection: { url: 'http://10.1.2.3' },
          variables: [{ ...variable, access: 'read', read: { path: '/' } }],
        },
        '',
      ],
    ];
    for (const [more, param] of wrong) {
      const body = { name: 'D', kind: 'simulated', connection: {}, variables: [variable], ...more };
      const { status, body: refusal, text } = await bed.ask('POST', '/api/v1/iot/devices', admin, body);
      t.equal(status, 400, text);
      if (param !== '') t.ok(refusal.detail.startsWith(`${param}: `), text);
      else t.equal(refusal.error, 'unsafe_address', text);
    }
    t.match((await bed.ask('GET', '/api/v1/iot/devices', admin)).body, { data: [] });
  });

  t.test('an HTTP device is asked with its key, which is shown nowhere and goes to no other address', async (t) => {
    const key = 'planted-secret-4711';
    const asked: (string | undefined)[] = [];
    let level: unknown = 3;
    const sentLevel = async (request: AsyncIterable<Buffer>): Promise<unknown> => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      return JSON.parse(Buffer.concat(chunks).toString()).set.level;
    };
    const { origin } = await httpServer(t, async (request, response) => {
      asked.push(request.headers.authorization);
      if (request.method === 'PUT') level = await sentLevel(request);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ tank: { level, at: new Date().toISOString() } }));
    });
    const bed = await openIot(t, { databaseUrl: await newUrl(t, newDatabase) });
    const tank = {
      name: 'Tank',
      kind: 'http',
      connection: { url: origin, poll_seconds: 3600 },
      key,
      variables: [
        {
          name: 'level',
          unit: 'm',
          type: 'number',
          access: 'read_write',
          min: 0,
          max: 10,
          read: { path: '/state', pointer: '/tank/level', time_pointer: '/tank/at' },
          write: { path: '/state', body: { set: { level: '{value}' } } },
        },
      ],
    };
    const id = await bed.add(tank);
    t.match((await bed.read(id, 'level')).body, { value: 3, unit: 'm', quality: 'good', ts: String });
    level = 'NaN';
    t.match((await bed.read(id, 'level')).body, { quality: 'good' }, 'a reading that is young is not asked for again');
    const path = `/api/v1/iot/devices/${id}`;
    await bed.ask('PATCH', path, admin, { name: 'Tank 1' });
    t.match((await bed.read(id, 'level')).body, { value: null, quality: 'bad' });
    level = 4;
    t.ok(asked.every((field) => field === `Bearer ${key}`));
    const shown = await bed.ask('GET', path, admin);
    t.match(shown.body, { key_present: true, connection: { url: origin } });
    t.strictSame((await bed.ask('GET', path, viewer)).body.connection, {});
    t.match(await bed.ask('PATCH', path, admin, { connection: { url: `${origin.replace('127.0.0.1', 'localhost')}` } }), {
      status: 400,
    });
    const rows = await bed.storage
      .access<IotTables>()
      .read(systemScope(), (db) => db.selectFrom('iot_devices').selectAll().execute());
    for (const text of [shown.text, JSON.stringify(rows), bed.log.join(), JSON.stringify(bed.acts)]) t.notMatch(text, key);
    await bed.ask('PATCH', path, admin, { key: null });
    await bed.read(id, 'level');
    t.equal(asked.at(-1), undefined, 'a key that was forgotten is sent no more');
  });

  t.test('a variable that turns bad is told as an event, once', async (t) => {
    const server = await modbusServer(t);
    const bed = await openIot(t, { databaseUrl: await newUrl(t, newDatabase) });
    server.registers[0] = 0x8000;
    const read = { register: 0, area: 'holding', type: 'int16', sentinel: -32_768 };
    const id = await bed.add({
      name: 'Probe',
      kind: 'modbus_tcp',
      connection: { host: '127.0.0.1', port: server.port, poll_seconds: 3600 },
      variables: [{ name: 'depth', type: 'number', access: 'read', read }],
    });
    for (let n = 0; n < 3; n += 1) t.match((await bed.read(id, 'depth')).body, { value: null, quality: 'bad' });
    t.match(bed.told, [['iot.reading_bad', { device_id: id, variable: 'depth', reason: 'the device has no value' }]]);
    t.equal(bed.told.length, 1);
  });

  t.test('samples become hourly means, and both go after their time', async (t) => {
    const bed = await openIot(t, { databaseUrl: await newUrl(t, newDatabase) });
    const id = await bed.add({ ...greenhouse, connection: { poll_seconds: 3600 } });
    const start = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 5 * HOUR_MS;
    let now = start;
    const history = new History({
      storage: bed.storage.access<IotTables>(),
      log: { warn: () => {} } as never,
      now: () => now,
      sampleMs: 60_000,
      keepSamplesMs: 10 * HOUR_MS,
      keepHoursMs: 100 * HOUR_MS,
    });
    const device = { tenant: 'red', id };
    const variable = { name: 'temperature', type: 'number', access: 'read' } as const;
    for (; now < start + 3 * HOUR_MS; now += 30_000)
      history.add(device, variable, { value: 10 + Math.floor((now - start) / HOUR_MS), quality: 'good' });
    history.add(device, variable, { value: null, quality: 'bad' });
    await history.flush();
    now += 2 * HOUR_MS;
    await history.keepUp();
    const ask = (more: string) =>
      bed.ask(
        'GET',
        `/api/v1/iot/history?device_id=${id}&variable=temperature&from=${new Date(start).toISOString()}${more}`,
        viewer,
      );
    t.match((await ask('&resolution=hours')).body, {
      resolution: 'hours',
      unit: 'Cel',
      data: [
        { value: 10, min: 10, max: 10, n: 60 },
        { value: 11, n: 60 },
        { value: 12, n: 60 },
      ],
    });
    const first = (await ask('&limit=100')).body;
    t.equal(first.data.length, 100, 'one a minute');
    const rest = (await bed.ask('GET', `/api/v1/iot/history?device_id=${id}&variable=temperature&from=${first.next}`, viewer))
      .body;
    t.match(rest.data.at(-1), { quality: 'bad', value: null }, 'a gap is a sample');
    now += 11 * HOUR_MS;
    await history.keepUp();
    const rows = () =>
      bed.storage.access<IotTables>().read(systemScope(), async (db) => ({
        samples: await db
          .selectFrom('iot_samples')
          .selectAll()
          .where('at', '<', start + 3 * HOUR_MS)
          .execute(),
        hours: await db.selectFrom('iot_hours').selectAll().execute(),
      }));
    t.match(await rows(), { samples: [], hours: [{ mean: 10 }, {}, {}] });
    now += 100 * HOUR_MS;
    await history.keepUp();
    t.match(await rows(), { hours: [] });
  });

  t.test('what a tenant has is erased with it, and of an account its name on writes', async (t) => {
    const bed = await openIot(t, { databaseUrl: await newUrl(t, newDatabase) });
    await bed.add(greenhouse);
    const kept = await bed.add(greenhouse, stranger);
    await bed.ask('POST', '/api/v1/iot/halt', admin, { reason: 'x' });
    const { belongings } = bed.module(iot);
    const scopeOf = (await import('../../platform/storage/index.ts')).tenantScope;
    await belongings?.eraseTenant(scopeOf('red'));
    await belongings?.eraseAccount?.(systemScope(), 'usr_dev');
    t.match((await bed.ask('GET', '/api/v1/iot/devices', admin)).body, { data: [] });
    t.match((await bed.ask('GET', '/api/v1/iot/halt', admin)).body, { halted: false });
    t.match((await bed.ask('GET', '/api/v1/iot/devices', stranger)).body, { data: [{ id: kept }] });
  });

  t.test('a write that a kill came between is unknown after the start, and is not sent again', async (t) => {
    const databaseUrl = await newUrl(t, newDatabase);
    const server = await modbusServer(t);
    const read = { register: 0, area: 'holding', type: 'int16' };
    const variables = [{ name: 'speed', type: 'number', access: 'read_write', min: 0, max: 9, max_change_per_minute: 3, read }];
    const connection = { host: '127.0.0.1', port: server.port, poll_seconds: 3600 };
    const first = await openIot(t, { databaseUrl });
    const id = await first.add({ name: 'Fan', kind: 'modbus_tcp', connection, variables });
    const row = { tenant: 'red', id: 'wri_1', device: id, variable: 'speed', owner: 'user:usr_dev', value: '2', change: 2 };
    const sending = { ...row, state: 'sending', read_back: null, verified: 0, at: Date.now(), ended_at: null } as const;
    await first.storage.access<IotTables>().writeUnit(systemScope(), (db) => [db.insertInto('iot_writes').values(sending)]);
    await first.stop();
    const second = await openIot(t, { databaseUrl });
    t.match((await second.read(id, 'speed')).body, { value: 0, quality: 'good' });
    t.match((await second.ask('GET', `/api/v1/iot/devices/${id}`, viewer)).body.writes, [
      { id: 'wri_1', state: 'unknown', value: 2 },
    ]);
    t.ok(
      server.asked.every((code) => code === 3),
      'registers were read, and none was written',
    );
  });

  t.test('another node knows the device, says that it is elsewhere, and takes it over when it is told to', async (t) => {
    const databaseUrl = await newUrl(t, newDatabase);
    if (databaseUrl.startsWith('sqlite')) return t.pass('SQLite has one node');
    const first = await openIot(t, { databaseUrl, nodeId: 'one' });
    const second = await openIot(t, { databaseUrl, nodeId: 'two' });
    const id = await first.add(greenhouse);
    await first.read(id, 'temperature');
    t.match((await second.ask('GET', '/api/v1/iot/devices', viewer)).body, { data: [{ id, state: 'elsewhere', node: 'one' }] });
    t.match((await second.read(id, 'temperature')).body, { quality: 'stale' });
    await second.ask('PATCH', `/api/v1/iot/devices/${id}`, admin, { here: true });
    t.match((await second.read(id, 'temperature')).body, { value: 20, quality: 'good' });
    t.match((await first.ask('GET', `/api/v1/iot/devices/${id}`, viewer)).body, { state: 'elsewhere' });
  });
}

onEachDatabase(testIot, { timeoutMs: 120_000 });
