import { Readable } from 'node:stream';
import t from 'tap';
import type { Reply } from '../route.ts';
import { eventually, OK, openTestBed, plainRoute, RawClient } from '../test-support/test-bed.ts';
import type { ByteSource } from './reply.ts';

const CHUNK = Buffer.alloc(64 * 1024, 'x');

const expected = Array.from({ length: 5000 }, (_, i) => `${String(i).padStart(9)}\n`).join('');

/** Chunks that the endless source was asked for, and whether it was closed. */
let nAsked = 0;
let isClosed = false;

async function* endless(): AsyncGenerator<Uint8Array> {
  nAsked = 0;
  isClosed = false;
  try {
    while (true) {
      nAsked += 1;
      yield CHUNK;
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    isClosed = true;
  }
}

async function* numbered(count: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) yield Buffer.from(`${String(i).padStart(9)}\n`);
}

async function* pieces(count: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) yield Buffer.from(expected.slice(0, 5000));
}

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('first');
  throw new Error('the disk is gone');
}

function waiting(): ReadableStream<Uint8Array> {
  isClosed = false;
  return new ReadableStream({
    cancel: () => {
      isClosed = true;
    },
  });
}

const answer = (body: ByteSource, sizeBytes?: number): Reply => ({
  kind: 'stream',
  status: 201,
  headers: { 'content-type': 'audio/wav', 'set-cookie': ['a=1', 'b=2'] },
  ...(sizeBytes === undefined ? {} : { sizeBytes }),
  body,
});

const bed = await openTestBed(t, [
  plainRoute('GET', '/chunked', () => answer(numbered(5000))),
  plainRoute('GET', '/sized', () => answer(numbered(5000), 50_000)),
  plainRoute('GET', '/large', () => answer(Readable.from(pieces(800)), 4_000_000)),
  plainRoute('GET', '/empty', () => answer(numbered(0), 0)),
  plainRoute('GET', '/empty-chunked', () => answer(numbered(0))),
  plainRoute('GET', '/short', () => answer(numbered(10), 1000)),
  plainRoute('GET', '/long', () => answer(numbered(10), 55)),
  plainRoute('GET', '/failing', () => answer(failing(), 1000)),
  plainRoute('GET', '/endless', () => answer(endless())),
  plainRoute('GET', '/endless-sized', () => answer(endless(), 2 ** 40)),
  plainRoute('GET', '/waiting', () => answer(waiting())),
  plainRoute('GET', '/next', () => OK),
]);
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

t.test('a stream has its status, type, repeated headers and every byte', async (t) => {
  for (const path of ['/chunked', '/sized']) {
    const response = await fetch(bed.url + path);
    t.equal(response.status, 201);
    t.equal(response.headers.get('content-type'), 'audio/wav');
    t.strictSame(response.headers.getSetCookie(), ['a=1', 'b=2']);
    t.equal(response.headers.get('content-length'), path === '/sized' ? '50000' : null);
    t.equal(await response.text(), expected, path);
  }
});

t.test('the connection serves the next request', async (t) => {
  const client = await RawClient.open(t, bed.port);
  for (const path of ['/chunked', '/sized', '/empty', '/empty-chunked']) {
    const before = client.received.length;
    client.send(get(path) + get('/next'));
    await client.until((text) => text.slice(before).includes('"ok"'));
  }
  t.notOk(client.closed);
});

t.test('HEAD has the headers and the length, and closes the source', async (t) => {
  const head = await fetch(`${bed.url}/sized`, { method: 'HEAD' });
  t.strictSame([head.status, head.headers.get('content-length')], [201, '50000']);
  const unsized = await fetch(`${bed.url}/waiting`, { method: 'HEAD' });
  t.equal(unsized.status, 201);
  await eventually(() => isClosed);
});

t.test('a large body reaches a slow reader whole', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.socket.pause();
  client.send(get('/large'));
  await new Promise((resolve) => setTimeout(resolve, 100));
  client.socket.resume();
  const text = await client.until((received) => received.length > 4_000_000, 30_000);
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  t.ok(body === expected.slice(0, 5000).repeat(800));
});

for (const path of ['/endless', '/endless-sized']) {
  t.test(`${path}: a reader that stops holds the source back, and closes it by leaving`, async (t) => {
    const client = await RawClient.open(t, bed.port);
    client.socket.pause();
    nAsked = 0;
    client.send(get(path));
    await eventually(() => nAsked > 10);
    let before = 0;
    // The kernel's buffers take some megabytes; then nothing more is asked for.
    while (before !== nAsked) {
      before = nAsked;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    t.ok(nAsked < 1000, `${nAsked} chunks were asked for`);
    t.equal(isClosed, false);
    client.socket.destroy();
    await eventually(() => isClosed);
    t.equal(isClosed, true);
  });
}

t.test('a source that waits is closed when the client leaves', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.send(get('/waiting'));
  await eventually(() => bed.metrics.expose().includes('svc_http_requests_in_flight 1'));
  client.socket.destroy();
  await eventually(() => isClosed);
  t.equal(isClosed, true);
});

t.test('a body that is not what was announced, or fails, ends in a cut connection', async (t) => {
  for (const path of ['/short', '/long', '/failing']) {
    const client = await RawClient.open(t, bed.port);
    client.send(get(path));
    const text = await client.untilClosed();
    t.ok(text.length < 600, `${path}: ${text.length}`);
  }
  for (const reason of ['900 bytes before', 'longer than the 55 bytes', 'the disk is gone']) {
    t.ok(
      bed.lines.some((line) => line.includes(reason)),
      reason,
    );
  }
});
