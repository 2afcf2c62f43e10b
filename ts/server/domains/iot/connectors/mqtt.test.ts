/** MQTT 3.1.1 and 5: packets that are no MQTT, a broker that is played, and mosquitto with restarts. No stale value is called good. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { allowedHostsOf } from '../../../platform/network/allowed-host.ts';
import type { Device, Variable } from '../profile.ts';
import type { Reading } from '../readings.ts';
import { DeviceSession } from '../session.ts';
import { mqtt } from './mqtt.ts';
import {
  connectPacket,
  MqttFault,
  type MqttPacket,
  MqttReader,
  pubackPacket,
  publishPacket,
  subscribePacket,
} from './mqtt-packets.ts';
import { StreamSockets } from './stream-sockets.ts';

const VERSIONS = ['3.1.1', '5'] as const;
type Version = (typeof VERSIONS)[number];

const level: Variable = {
  name: 'level',
  type: 'number',
  access: 'read_write',
  min: 0,
  max: 100,
  read: { topic: 'tank/level', pointer: '/value', qos: 1 },
  write: { topic: 'tank/set', body: { value: '{value}' } },
};
const timed: Variable = {
  name: 'timed',
  type: 'number',
  access: 'read',
  read: { topic: 'tank/timed', pointer: '/value', time_pointer: '/at' },
};

/** A session with every reading that came, and a way to wait for the next that fits. */
function openSession(t: Test, port: number, version: Version, variables: readonly Variable[] = [level, timed]) {
  const seen: Reading[] = [];
  const waiting = new Set<() => void>();
  const device = {
    id: 'dev_1',
    tenant: 'red',
    variables,
    connection: { url: `mqtt://127.0.0.1:${port}`, version, timeout_seconds: 1, keep_alive_seconds: 1 },
  } as unknown as Device;
  const tell = (): void => {
    for (const look of waiting) look();
  };
  const session = new DeviceSession({
    device,
    log: { info: tell, error: () => {} } as never,
    now: Date.now,
    connect: (about) =>
      mqtt({
        ...about,
        onState: (isConnected, reason) => {
          about.onState(isConnected, reason);
          tell();
        },
        key: undefined,
        http: undefined as never,
        now: Date.now,
        sockets: new StreamSockets(allowedHostsOf('iot.allowed_hosts', '127.0.0.1', '')),
      }),
    onReading: (_device, _variable, reading) => {
      seen.push(reading);
      tell();
    },
  });
  session.open();
  t.teardown(() => session.close());
  const until = (isSo: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!isSo()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const next = async (value: unknown): Promise<void> => until(() => session.reading(level).value === value);
  return { session, seen, until, next };
}

/** A broker that a test plays: it takes every connection, and hands over the packets that come. */
async function playedBroker(t: Test, version: Version) {
  const packets: { first: number; body: Buffer }[] = [];
  const sockets: Socket[] = [];
  const rules = { acknowledges: true, echoes: true };
  const server = createServer((socket) => {
    sockets.push(socket);
    let received = Buffer.alloc(0);
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        received = Buffer.concat([received, chunk]);
        while (received.length >= 2 && received.length >= 2 + (received[1] ?? 0)) {
          const body = Buffer.from(received.subarray(2, 2 + (received[1] ?? 0)));
          const first = received[0] ?? 0;
          received = received.subarray(2 + body.length);
          packets.push({ first, body });
          if (first >> 4 === 1) socket.write(Buffer.from(version === '5' ? [0x20, 3, 0, 0, 0] : [0x20, 2, 0, 0]));
          if (first >> 4 === 8)
            socket.write(
              Buffer.from(
                version === '5' ? [0x90, 4, body[0] ?? 0, body[1] ?? 0, 0, 1] : [0x90, 3, body[0] ?? 0, body[1] ?? 0, 1],
              ),
            );
          if (first >> 4 !== 3) continue;
          const topicBytes = body.readUInt16BE(0);
          const payload = body.subarray(4 + topicBytes + (version === '5' ? 1 : 0)).toString();
          if (rules.acknowledges) socket.write(pubackPacket(body.readUInt16BE(2 + topicBytes)));
          if (rules.echoes) socket.write(publishPacket({ version, topic: 'tank/level', payload, qos: 0, id: 0 }));
        }
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const published = () => packets.filter(({ first }) => first >> 4 === 3);
  const drop = (): void => {
    for (const socket of sockets.splice(0)) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    packets,
    published,
    rules,
    drop,
    say: (packet: Buffer) => sockets.at(-1)?.write(packet),
  };
}

t.test('packets come whole, however the bytes are cut, and what is no MQTT is a fault', async (t) => {
  for (const version of VERSIONS) {
    const messages = Array.from({ length: 40 }, (_, i) =>
      publishPacket({ version, topic: `a/${i}`, payload: 'x'.repeat(i * 17), qos: i % 2, id: i + 1 }),
    );
    const stream = Buffer.concat(messages);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1 }), (sizes) => {
        const reader = new MqttReader(version);
        const found: MqttPacket[] = [];
        for (let at = 0, i = 0; at < stream.length; i += 1) {
          const size = sizes[i % sizes.length] ?? 1;
          found.push(...reader.take(stream.subarray(at, at + size)));
          at += size;
        }
        return (
          found.length === 40 &&
          found.every((one, i) => one.type === 'publish' && one.topic === `a/${i}` && one.payload.length === i * 17)
        );
      }),
      { numRuns: 50 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          return [...new MqttReader(version).take(Buffer.from(bytes))].length >= 0;
        } catch (error) {
          return error instanceof MqttFault;
        }
      }),
      { numRuns: 3_000 },
    );
  }
  const large = publishPacket({ version: '5', topic: 'a', payload: 'x'.repeat(300_000), qos: 0, id: 0 });
  const found = [
    ...new MqttReader('5').take(Buffer.concat([large, publishPacket({ version: '5', topic: 'b', payload: '1', qos: 0, id: 0 })])),
  ];
  t.match(found, [{ topic: 'b' }], 'a packet that is too large is left out');
  t.equal(connectPacket({ version: '5', clientId: 'c', keepAliveSeconds: 10, user: 'u', password: 'p' })[0], 0x10);
  t.equal(subscribePacket('5', 1, [['a', 1]])[0], 0x82);
});

for (const version of VERSIONS) {
  t.test(`a write is published once, whatever becomes of it (MQTT ${version})`, async (t) => {
    const broker = await playedBroker(t, version);
    const { session, until } = openSession(t, broker.port, version, [level]);
    await until(() => session.isConnected);
    t.equal(await session.write(level, 40), 40, 'it is read back');
    broker.rules.echoes = false;
    broker.rules.acknowledges = false;
    const unknown = await session.write(level, 41).catch((error) => error);
    t.match(unknown, { kind: 'unknown' }, 'no acknowledgement');
    const cut = session.write(level, 42).catch((error) => error);
    while (broker.published().length < 3) await new Promise((resolve) => setImmediate(resolve));
    broker.drop();
    t.match(await cut, { kind: 'unknown' }, 'the connection ended');
    await until(() => !session.isConnected);
    t.match(await session.write(level, 43).catch((error) => error), { kind: 'unsent' });
    await until(() => session.isConnected);
    broker.rules.acknowledges = true;
    broker.rules.echoes = true;
    t.equal(await session.write(level, 44), 44);
    const sent = broker.published().map(({ body }) => /"value":(\d+)/.exec(body.toString())?.[1]);
    t.strictSame(sent, ['40', '41', '42', '44'], 'nothing was sent again after the reconnect');
    t.ok(
      broker.published().every(({ first }) => (first & 0x09) === 0),
      'never as a duplicate, never retained',
    );
    t.ok(
      broker.packets.filter(({ first }) => first >> 4 === 1).every(({ body }) => ((body[7] ?? 0) & 0x02) === 2),
      'each connection is a new session',
    );
  });
}

t.test('a broker that falls silent is left', async (t) => {
  const silent = createServer((socket) =>
    socket.on('error', () => undefined).once('data', () => socket.write(Buffer.from([0x20, 2, 0, 0]))),
  );
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  const { session, until } = openSession(t, (silent.address() as { port: number }).port, '3.1.1');
  await until(() => session.isConnected);
  await until(() => !session.isConnected);
  t.equal(session.reason, 'the broker fell silent');
});

const hasMosquitto = spawnSync('/usr/sbin/mosquitto', ['-h']).error === undefined;
const skip = hasMosquitto ? false : 'mosquitto is not installed';

/** Debian's broker, which keeps retained messages over a restart. */
async function mosquitto(t: Test) {
  const folder = newFolder(t);
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as { port: number };
  free.close();
  const file = join(folder, 'mosquitto.conf');
  const user = process.getuid?.() === 0 ? 'user root\n' : '';
  writeFileSync(
    file,
    `listener ${port} 127.0.0.1\nallow_anonymous true\npersistence true\npersistence_location ${folder}/\n${user}`,
  );
  let running: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    running = spawn('/usr/sbin/mosquitto', ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    for await (const chunk of running.stderr ?? []) if (String(chunk).includes('running')) break;
  };
  const stop = async (): Promise<void> => {
    if (running?.exitCode !== null) return;
    running.kill('SIGTERM');
    await once(running, 'exit');
  };
  await start();
  t.teardown(stop);
  return { port, start, stop };
}

/** Publishes as another client does, with its own connection. Resolves when the broker has it. */
async function publish(port: number, topic: string, payload: string, isRetained = false): Promise<void> {
  const { connect } = await import('node:net');
  const socket = connect(port, '127.0.0.1');
  const reader = new MqttReader('3.1.1');
  socket.write(
    connectPacket({
      version: '3.1.1',
      clientId: `test-${topic.length}-${payload.length}`,
      keepAliveSeconds: 30,
      user: undefined,
      password: undefined,
    }),
  );
  for await (const chunk of socket) {
    for (const packet of reader.take(chunk as Buffer)) {
      if (packet.type === 'puback') return void socket.destroy();
      if (packet.type !== 'connack') continue;
      const message = publishPacket({ version: '3.1.1', topic, payload, qos: 1, id: 1 });
      if (isRetained) message[0] = (message[0] ?? 0) | 1;
      socket.write(message);
    }
  }
}

for (const version of VERSIONS) {
  t.test(`over restarts of mosquitto no stale value is called good (MQTT ${version})`, { skip }, async (t) => {
    const broker = await mosquitto(t);
    await publish(broker.port, 'tank/level', '{"value": 1}', true);
    await publish(broker.port, 'tank/timed', `{"value": 5, "at": "${new Date(Date.now() - 3_600_000).toISOString()}"}`, true);
    const { session, until, next } = openSession(t, broker.port, version);
    await next(1);
    t.equal(session.reading(level).quality, 'stale', 'a retained message without a time');
    await until(() => session.reading(timed).value === 5);
    t.equal(session.reading(timed).quality, 'stale', 'its own time is an hour old');
    await publish(broker.port, 'tank/timed', `{"value": 6, "at": "${new Date().toISOString()}"}`, true);
    await until(() => session.reading(timed).value === 6);
    t.equal(session.reading(timed).quality, 'good');
    for (let n = 2; n <= 4; n += 1) {
      await publish(broker.port, 'tank/level', `{"value": ${n}}`, true);
      await next(n);
      t.equal(session.reading(level).quality, 'good', 'a live one');
      await broker.stop();
      await until(() => !session.isConnected);
      t.equal(session.reading(level).quality, 'offline');
      await broker.start();
      await until(() => session.isConnected);
      t.equal(session.reading(level).quality, 'stale', 'what was live before says nothing of now');
      await until(() => session.reading(level).receivedAt !== null && session.isConnected);
    }
    await publish(broker.port, 'tank/level', '{"value": null}');
    await until(() => session.reading(level).quality === 'bad');
    t.equal(session.reading(level).value, null);
  });
}

t.test('after a restart of mosquitto no write is sent again', { skip }, async (t) => {
  const broker = await mosquitto(t);
  const echo = { ...level, read: { topic: 'tank/set', pointer: '/value', qos: 1 } };
  const { session, until, seen } = openSession(t, broker.port, '5', [echo]);
  await until(() => session.isConnected);
  t.equal(await session.write(echo, 10), 10);
  await broker.stop();
  await until(() => !session.isConnected);
  t.match(await session.write(echo, 11).catch((error) => error), { kind: 'unsent' });
  await broker.start();
  await until(() => session.isConnected);
  t.equal(await session.write(echo, 12), 12);
  t.strictSame(
    seen.filter(({ quality }) => quality === 'good').map(({ value }) => value),
    [10, 12],
  );
});
