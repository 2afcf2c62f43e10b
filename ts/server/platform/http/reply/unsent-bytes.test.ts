import t, { type Test } from 'tap';
import type { EventStream, Route } from '../route.ts';
import { eventually, OK, openTestBed, plainRoute, RawClient, type TestBed } from '../test-support/test-bed.ts';

const MIB = 1024 * 1024;
const LARGE = Buffer.alloc(8 * MIB, 'x');
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

const routes: Route[] = [
  plainRoute('GET', '/large', () => ({ kind: 'bytes', status: 200, headers: {}, body: LARGE })),
  plainRoute('GET', '/text', () => ({ kind: 'bytes', status: 200, headers: {}, body: 'ä€'.repeat(2 * MIB) })),
  plainRoute('GET', '/small', () => ({ kind: 'bytes', status: 200, headers: {}, body: LARGE.subarray(0, 100_000) })),
  plainRoute('GET', '/next', () => OK),
];

function open(t: Test, ofCaller: number, ofAll: number, more: readonly Route[] = []): Promise<TestBed> {
  return openTestBed(t, [...routes, ...more], { unsentLimits: { ofCaller, ofAll } });
}

/** A client that asks and never reads. */
async function asker(t: Test, bed: TestBed, path: string): Promise<RawClient> {
  const client = await RawClient.open(t, bed.port);
  client.socket.pause();
  client.send(get(path));
  return client;
}

function unsentBytes(bed: TestBed): number {
  return Number(/^svc_http_unsent_bytes (\d+)$/m.exec(bed.metrics.expose())?.[1]);
}

const nCuts = (bed: TestBed, limit: string): number =>
  Number(new RegExp(`^svc_http_slow_answers_cut_total\\{limit="${limit}"\\} (\\d+)$`, 'm').exec(bed.metrics.expose())?.[1] ?? 0);

t.test('clients that never read hold no more than their share, and the log says which answers were cut', async (t) => {
  const bed = await open(t, 20 * MIB, 400 * MIB);
  for (let i = 0; i < 12; i++) {
    await asker(t, bed, '/large');
    await eventually(() => bed.metrics.expose().includes(`svc_http_requests_in_flight ${i + 1 - nCuts(bed, 'caller')}`));
    t.ok(unsentBytes(bed) <= 20 * MIB, `${unsentBytes(bed)} bytes are unsent`);
  }
  t.ok(nCuts(bed, 'caller') >= 6);
  const said = bed.lines.filter((line) => line.includes('reads too slowly')).map((line) => JSON.parse(line) as object);
  t.match(said[0], { level: 'warn', exceeded: 'http.max_unsent_bytes_per_caller', unsent_bytes: Number, id: String });
  t.equal(await (await fetch(`${bed.url}/next`)).text(), '{"ok":true}');
});

t.test('all callers together have a limit, too', async (t) => {
  const bed = await open(t, 400 * MIB, 20 * MIB);
  for (let i = 0; i < 12; i++) await asker(t, bed, '/large');
  await eventually(() => nCuts(bed, 'all') >= 3);
  t.ok(unsentBytes(bed) <= 20 * MIB);
});

t.test('one answer may be larger than the share, and what was held is given back', async (t) => {
  const bed = await open(t, MIB, 2 * MIB);
  const client = await asker(t, bed, '/text');
  await eventually(() => unsentBytes(bed) > 2 * MIB);
  client.socket.resume();
  await client.until((text) => text.length > 10 * MIB, 30_000);
  const text = Buffer.from(client.received, 'latin1').toString('utf8');
  t.ok(text.endsWith('\r\n\r\nä€'.concat('ä€'.repeat(2 * MIB - 1))), 'every character came');
  t.equal(unsentBytes(bed), 0);
  const before = client.received.length;
  client.send(get('/next'));
  await client.until((received) => received.slice(before).includes('"ok"'));
});

t.test('a client that asks again and again and never reads is cut', async (t) => {
  const bed = await open(t, 400 * MIB, 400 * MIB);
  const client = await asker(t, bed, '/small');
  let nSent = 1;
  const isOver = (): boolean => bed.metrics.expose().includes('svc_http_connections{listener="internal"} 0');
  while (!isOver() && nSent < 2_000) {
    client.send(get('/small'));
    nSent += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.ok(nSent < 2_000, `${nSent} answers of 100,000 bytes`);
});

t.test('a stream that has ended stays until its slow reader has it all', async (t) => {
  let stream: EventStream | undefined;
  const events = plainRoute('GET', '/events', () => ({
    kind: 'events',
    headers: {},
    start: (opened) => {
      stream = opened;
    },
  }));
  const bed = await open(t, 64 * MIB, 64 * MIB, [events]);
  const client = await asker(t, bed, '/events');
  await eventually(() => stream !== undefined);
  const frame = `data: ${'x'.repeat(64 * 1024)}\n\n`;
  while (stream?.write(frame)) await new Promise((resolve) => setImmediate(resolve));
  for (let i = 0; i < 20; i++) stream?.write(frame);
  stream?.write('data: last\n\n');
  stream?.end();
  t.ok(unsentBytes(bed) > MIB);
  const drained = bed.server.drain(20_000);
  client.socket.resume();
  t.equal(await drained, true);
  bed.server.close();
  t.match(await client.untilClosed(), /data: last\n\n.*0\r\n\r\n$/s);
});
