import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { json } from '../route.ts';
import { eventually, OK, openTestBed, plainRoute, RawClient } from '../test-support/test-bed.ts';
import { BodyStream } from './body-stream.ts';

const MEGABYTE = 1024 * 1024;
/** Longer than an idle connection lives. */
const BEYOND_IDLE_MS = 13_000;
let opened: BodyStream | undefined;
let failure: unknown;
let readBytes = 0;

const bed = await openTestBed(t, [
  plainRoute(
    'POST',
    '/hash',
    async ({ body }) => {
      const hash = createHash('sha256');
      for await (const chunk of body as BodyStream) hash.update(chunk);
      return json(200, { hash: hash.digest('hex') });
    },
    { bodyKind: 'bytes', maxBody: 200 * MEGABYTE },
  ),
  plainRoute('POST', '/ignored', () => OK, { bodyKind: 'bytes', maxBody: 200 * MEGABYTE }),
  plainRoute(
    'POST',
    '/held',
    async ({ body, signal }) => {
      opened = body as BodyStream;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return OK;
    },
    { bodyKind: 'bytes', maxBody: 200 * MEGABYTE },
  ),
  plainRoute(
    'POST',
    '/read',
    async ({ body }) => {
      readBytes = 0;
      try {
        for await (const chunk of body as BodyStream) readBytes += chunk.length;
      } catch (error) {
        failure = error;
        throw error;
      }
      return json(200, { readBytes });
    },
    { bodyKind: 'bytes', maxBody: MEGABYTE },
  ),
  ...(['/slow-reader', '/slow-answer'] as const).map((path) =>
    plainRoute(
      'POST',
      path,
      async ({ body }) => {
        // Long enough for the library to have taken some from the socket.
        await wait(path === '/slow-reader' ? BEYOND_IDLE_MS : 300);
        let nBytes = 0;
        for await (const chunk of body as BodyStream) nBytes += chunk.length;
        await wait(path === '/slow-answer' ? BEYOND_IDLE_MS : 0);
        return json(200, { nBytes });
      },
      { bodyKind: 'bytes', maxBody: 200 * MEGABYTE },
    ),
  ),
  plainRoute('GET', '/next', () => OK),
]);
const head = (path: string, ...fields: string[]): string => [`POST ${path} HTTP/1.1`, 'Host: a', ...fields, '', ''].join('\r\n');
const chunk = (piece: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);

t.test('a large body is read whole, with a length and in chunks', async (t) => {
  const body = Buffer.alloc(20 * MEGABYTE, 'abcdefg');
  const hash = createHash('sha256').update(body).digest('hex');
  t.strictSame(await (await fetch(`${bed.url}/hash`, { method: 'POST', body })).json(), { hash });
  const source = new ReadableStream({
    start: (controller) => {
      for (let at = 0; at < body.length; at += MEGABYTE) controller.enqueue(body.subarray(at, at + MEGABYTE));
      controller.close();
    },
  });
  const chunked = await fetch(`${bed.url}/hash`, { method: 'POST', body: source, duplex: 'half' } as RequestInit);
  t.strictSame(await chunked.json(), { hash });
  const empty = await fetch(`${bed.url}/hash`, { method: 'POST' });
  t.strictSame(await empty.json(), { hash: createHash('sha256').digest('hex') });
});

t.test('a handler that does not read slows the client down', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.send(head('/held', `Content-Length: ${100 * MEGABYTE}`));
  const piece = Buffer.alloc(MEGABYTE);
  for (let i = 0; i < 99; i++) client.send(piece);
  let before = -1;
  while (before !== client.socket.writableLength) {
    before = client.socket.writableLength;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  t.ok(before > 50 * MEGABYTE, `${before} bytes wait at the client`);
  client.socket.destroy();
  // A socket that is not read tells of its end when it is read on.
  await t.rejects(
    async () => {
      for await (const _ of opened as BodyStream);
    },
    { name: 'BodyAborted' },
  );
});

t.test('a body that nobody reads is read past, and the connection goes on', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.send(head('/ignored', `Content-Length: ${5 * MEGABYTE}`));
  for (let i = 0; i < 5; i++) client.send(Buffer.alloc(MEGABYTE));
  client.send('GET /next HTTP/1.1\r\nHost: a\r\n\r\n');
  t.match(await client.until((text) => text.split('"ok"').length === 3), /200 OK.*200 OK/s);
});

t.test('a body over the limit is 413, also when its length is not told before', async (t) => {
  const declared = await fetch(`${bed.url}/read`, { method: 'POST', body: Buffer.alloc(MEGABYTE + 1) });
  t.equal(declared.status, 413);
  const client = await RawClient.open(t, bed.port);
  client.send(head('/read', 'Transfer-Encoding: chunked'));
  for (let i = 0; i < 3; i++) client.send(chunk(Buffer.alloc(MEGABYTE)));
  client.send('0\r\n\r\n');
  t.match(await client.until((text) => text.includes('}')), /^HTTP\/1\.1 413 .*payload_too_large/s);
});

t.test('a chunked body without end is cut', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.send(head('/read', 'Transfer-Encoding: chunked'));
  const piece = chunk(Buffer.alloc(MEGABYTE));
  for (let i = 0; i < 40 && !client.closed; i++) {
    client.send(piece);
    await eventually(() => client.socket.writableLength < 4 * MEGABYTE || client.closed);
  }
  await client.untilClosed();
  t.ok(client.closed);
});

t.test('a client that leaves in the middle is told to the reader', async (t) => {
  failure = undefined;
  const client = await RawClient.open(t, bed.port);
  client.send(head('/read', 'Content-Length: 1000000'));
  client.send(Buffer.alloc(1000));
  await eventually(() => readBytes > 0);
  client.socket.destroy();
  await eventually(() => failure !== undefined);
  t.match(failure, { name: 'BodyAborted' });
  t.notOk(
    bed.lines.some((line) => line.includes('failed unexpectedly')),
    'and is no fault of the server',
  );
});

t.test('pieces of any size come out in order, and the socket is paused in turn with resumed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(600_000), { minLength: 1, maxLength: 12 }), async (sizes) => {
      const calls: string[] = [];
      const stream = new BodyStream(1e9, { pause: () => calls.push('pause'), resume: () => calls.push('resume') });
      const pieces = sizes.map((size, i) => Buffer.alloc(size, i + 1));
      for (const [i, piece] of pieces.entries()) {
        stream.add(new Uint8Array(piece).buffer, i === pieces.length - 1);
      }
      const read: Uint8Array[] = [];
      for await (const piece of stream) read.push(piece);
      const isAlternating = calls.every((call, i) => call === (i % 2 === 0 ? 'pause' : 'resume'));
      return Buffer.concat(read).equals(Buffer.concat(pieces)) && isAlternating && calls.length % 2 === 0;
    }),
    { numRuns: 50 },
  );
});

t.test('a connection outlives a slow reader and an answer that takes long, but no client that stalls', async (t) => {
  // Bodies of several sizes: what one read takes off the socket decides whether the last piece comes while it is paused.
  const sizes = [1, 2, 3, 4, 20].map((each) => each * MEGABYTE + 1_000);
  const ask = async (path: string, size: number) => {
    const client = await RawClient.open(t, bed.port);
    client.send(head(path, `Content-Length: ${size}`));
    client.send(Buffer.alloc(size));
    const answer = await client.until((text) => text.includes('}'), 2 * BEYOND_IDLE_MS);
    t.match(answer, new RegExp(`"nBytes":${size}`), `${path}, ${size} bytes`);
    client.send('GET /next HTTP/1.1\r\nHost: a\r\n\r\n');
    t.match(await client.until((text) => text.includes('"ok"')), /200 OK/, 'the connection goes on');
  };
  const stall = async () => {
    const client = await RawClient.open(t, bed.port);
    client.send(head('/hash', `Content-Length: ${20 * MEGABYTE}`));
    client.send(Buffer.alloc(10 * MEGABYTE));
    await client.until((_received, closed) => closed, 2 * BEYOND_IDLE_MS);
    t.ok(client.closed, 'a client that stalls in the middle is cut');
  };
  await Promise.all([stall(), ...['/slow-reader', '/slow-answer'].flatMap((path) => sizes.map((size) => ask(path, size)))]);
});
