import t, { type Test } from 'tap';
import type { EventStream, EventsReply } from '../route.ts';
import { eventually, OK, openTestBed, plainRoute, RawClient } from '../test-support/test-bed.ts';
import { Heartbeat, SocketEventStream } from './event-stream.ts';

const PIECE = `data: ${'x'.repeat(64 * 1024)}\n\n`;

function streaming(start: (stream: EventStream) => void): EventsReply {
  return { kind: 'events', headers: { 'x-extra': '1' }, start };
}

/** The last stream that a request opened, and what it was told. */
let stream: EventStream | undefined;
let drains = 0;
let closes = 0;

function watch(opened: EventStream): void {
  stream = opened;
  drains = 0;
  closes = 0;
  opened.onDrain(() => {
    drains += 1;
  });
  opened.onClose(() => {
    closes += 1;
  });
}

const bed = await openTestBed(
  t,
  [
    plainRoute('GET', '/quick', () =>
      streaming((opened) => {
        opened.write('data: 1\n\n');
        opened.write(Buffer.from('data: 2\n\n'));
        opened.write('');
        opened.end();
        opened.end();
        opened.write('data: late\n\n');
      }),
    ),
    plainRoute('GET', '/open', () => streaming(watch)),
    plainRoute('GET', '/failing', () =>
      streaming(() => {
        throw new Error('no start');
      }),
    ),
    plainRoute('GET', '/late', async ({ signal }) => {
      signal.throwIfAborted();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return streaming(watch);
    }),
    plainRoute('GET', '/next', () => OK),
  ],
  { pingAfterMs: 60 },
);
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

async function openStream(t: Test): Promise<{ client: RawClient; opened: EventStream }> {
  stream = undefined;
  const client = await RawClient.open(t, bed.port);
  client.send(get('/open'));
  await eventually(() => stream !== undefined);
  return { client, opened: stream as unknown as EventStream };
}

t.test('a stream has its headers, its frames, and leaves the connection usable', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.send(get('/quick'));
  const text = await client.until((received) => received.includes('0\r\n\r\n'));
  t.match(text, /^HTTP\/1\.1 200 OK/);
  for (const header of ['content-type: text/event-stream', 'cache-control: no-cache', 'x-accel-buffering: no', 'x-extra: 1'])
    t.ok(text.includes(header), header);
  t.ok(text.indexOf('data: 1') < text.indexOf('data: 2'));
  t.notMatch(text, /late/);
  client.send(get('/next'));
  t.match(await client.until((received) => received.includes('"ok"')), /HTTP\/1\.1 200 OK.*HTTP\/1\.1 200 OK/s);
});

t.test('headers arrive before the first frame', async (t) => {
  const { client, opened } = await openStream(t);
  t.match(await client.until((received) => received.includes('\r\n\r\n')), /text\/event-stream/);
  opened.end();
});

t.test('silence is filled with comments, and a written frame delays them', async (t) => {
  const { client, opened } = await openStream(t);
  const comments = (text: string): number => text.split('\r\n:\n\n\r\n').length - 1;
  await client.until((received) => comments(received) >= 3);
  opened.end();
  await client.until((received) => received.includes('0\r\n\r\n'));
  t.pass('comments came');
});

t.test('quiet streams get their comments spread over time, not all at once', async (t) => {
  let tick = 0;
  const ticker = setInterval(() => tick++, 1);
  const heartbeat = new Heartbeat(400);
  t.teardown(() => {
    clearInterval(ticker);
    heartbeat.stop();
  });
  const pinged = new Map<number, number>();
  const perTick: number[] = [];
  for (let i = 0; i < 80; i++) {
    const write = () => {
      pinged.set(i, (pinged.get(i) ?? 0) + 1);
      perTick[tick] = (perTick[tick] ?? 0) + 1;
      return true;
    };
    new SocketEventStream({ write, end() {}, cut() {} }, heartbeat);
  }
  await eventually(() => pinged.size === 80);
  t.ok(Math.max(...perTick.filter((count) => count !== undefined)) <= 20, perTick.filter(Boolean).join());
  t.ok(Math.max(...pinged.values()) <= 2, 'and none of them much more often than others');
});

t.test('a slow reader pushes back, is drained, and gets every byte in order', async (t) => {
  const { client, opened } = await openStream(t);
  client.socket.pause();
  let sent = 0;
  let accepted = true;
  while (accepted) {
    accepted = opened.write(`data: ${sent}\n\n${PIECE}`);
    sent += 1;
    // The kernel's buffers hold the first megabytes and need time to fill.
    if (sent % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(drains, 0);
  client.socket.resume();
  await eventually(() => drains > 0);
  t.equal(opened.write('data: after\n\n'), true);
  opened.end();
  const text = await client.until((received) => received.endsWith('0\r\n\r\n'));
  const numbers = [...text.matchAll(/data: (\d+)\n/g)].map((match) => Number(match[1]));
  t.strictSame(
    numbers,
    Array.from({ length: sent }, (_, i) => i),
  );
});

t.test('what was written to a slow reader arrives, though nothing is written after it', async (t) => {
  stream = undefined;
  // Comments against silence would flush what is queued, too.
  const { port } = await openTestBed(t, [plainRoute('GET', '/open', () => streaming(watch))]);
  const client = await RawClient.open(t, port);
  client.send(get('/open'));
  await eventually(() => stream !== undefined);
  const opened = stream as unknown as EventStream;
  client.socket.pause();
  while (opened.write(PIECE)) await new Promise((resolve) => setImmediate(resolve));
  for (let i = 0; i < 40; i++) opened.write(PIECE);
  opened.write('data: last\n\n');
  client.socket.resume();
  await client.until((received) => received.includes('data: last'));
  t.ok(drains > 0);
  opened.end();
});

t.test('a reader that never reads is cut before it fills the memory', async (t) => {
  const { client, opened } = await openStream(t);
  client.socket.pause();
  for (let i = 0; i < 2000 && closes === 0; i++) {
    opened.write(PIECE);
    if (i % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(closes, 1);
  t.equal(opened.write(PIECE), false);
});

t.test('a client that leaves is told to the stream once', async (t) => {
  const { client, opened } = await openStream(t);
  client.socket.destroy();
  await eventually(() => closes > 0);
  t.equal(opened.write('data: x\n\n'), false);
  opened.end();
  t.equal(closes, 1);
});

t.test('a client that leaves before the stream opens is told all the same', async (t) => {
  stream = undefined;
  const client = await RawClient.open(t, bed.port);
  client.send(get('/late'));
  await eventually(() => bed.metrics.expose().includes('svc_http_requests_in_flight 1'));
  client.socket.destroy();
  await eventually(() => stream !== undefined && closes === 1);
  t.equal(closes, 1);
});

t.test('a stream that cannot start cuts the connection and is logged', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.send(get('/failing'));
  await client.untilClosed();
  t.ok(bed.lines.some((line) => line.includes('no start')));
});

t.test('HEAD of a stream has its headers alone', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.send(`HEAD /quick HTTP/1.1\r\nHost: a\r\n\r\n${get('/next')}`);
  t.match(await client.until((received) => received.includes('"ok"')), /text\/event-stream.*"ok"/s);
});
