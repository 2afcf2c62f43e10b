import fc from 'fast-check';
import t from 'tap';
import Type from 'typebox';
import { json } from '../route.ts';
import { eventually, OK, openTestBed, plainRoute, RawClient } from '../test-support/test-bed.ts';

const LARGE = 128 * 1024 * 1024;
const bed = await openTestBed(
  t,
  [
    plainRoute('POST', '/json', ({ body }) => json(200, { got: body }), {
      maxBody: 100_000,
      body: Type.Object({ model: Type.String() }),
    }),
    plainRoute('POST', '/prompt', ({ body }) => json(200, { got: body }), {
      maxBody: 100_000,
      body: Type.Object({ model: Type.String() }),
      bodyTexts: 'free',
    }),
    plainRoute('POST', '/bytes', ({ body }) => json(200, { size: (body as Uint8Array).length }), { maxBody: LARGE }),
    plainRoute('GET', '/next', () => OK),
  ],
  { maxBufferedBodyBytes: LARGE },
);

function head(path: string, ...headers: string[]): string {
  return [`POST ${path} HTTP/1.1`, 'Host: a', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');
}

async function postBytes(body: Uint8Array | string, type = 'application/json') {
  const response = await fetch(`${bed.url}/json`, { method: 'POST', body: Buffer.from(body), headers: { 'content-type': type } });
  return { status: response.status, text: await response.text() };
}

/** Sends a body in pieces, waiting for the socket, as a client does that reads only when it has written all. */
async function pour(client: RawClient, totalBytes: number, frame: (piece: Buffer) => Uint8Array | string): Promise<void> {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  for (let left = totalBytes; left > 0 && !client.closed; left -= piece.length) {
    const isAccepted = client.socket.write(frame(left < piece.length ? piece.subarray(0, left) : piece));
    if (!isAccepted) await eventually(() => client.socket.writableLength === 0 || client.closed);
  }
}

t.test('a body of exactly the limit is taken', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.send(head('/bytes', `Content-Length: ${LARGE}`));
  await pour(client, LARGE, (piece) => piece);
  t.match(await client.until((text) => text.includes('}'), 60_000), new RegExp(`"size":${LARGE}`));
});

t.test('one byte more is 413, readable by a client that writes all of it first, and the connection goes on', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.send(head('/bytes', `Content-Length: ${LARGE + 1}`));
  await pour(client, LARGE + 1, (piece) => piece);
  client.send('GET /next HTTP/1.1\r\nHost: a\r\n\r\n');
  const received = await client.until((text) => text.includes('"ok"'), 60_000);
  t.match(received, /^HTTP\/1\.1 413 .*"error":"payload_too_large".*"status":413.*HTTP\/1\.1 200 OK/s);
});

t.test('a chunked body over the limit is read past for a while, then answered 413', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.send(head('/json', 'Transfer-Encoding: chunked'));
  await pour(client, 200_000, (piece) => `${piece.length.toString(16)}\r\n${piece.toString()}\r\n`);
  client.send('0\r\n\r\n');
  t.match(await client.until((text) => text.includes('}')), /^HTTP\/1\.1 413 .*payload_too_large/s);
});

t.test('a chunked body without end is cut', async (t) => {
  const client = await RawClient.open(t, bed.port);
  client.send(head('/json', 'Transfer-Encoding: chunked'));
  await pour(client, 64 * 1024 * 1024, (piece) => `${piece.length.toString(16)}\r\n${piece.toString()}\r\n`);
  await client.untilClosed();
  t.ok(client.closed);
});

t.test('a client that leaves in the middle of a body releases its memory', async (t) => {
  for (let i = 0; i < 3; i++) {
    const client = await RawClient.open(t, bed.port);
    const before = bed.lines.length;
    client.send(head('/bytes', `Content-Length: ${LARGE}`));
    await pour(client, LARGE / 2, (piece) => piece);
    client.socket.destroy();
    await eventually(() => bed.lines.length > before);
  }
  const response = await fetch(`${bed.url}/bytes`, { method: 'POST', body: Buffer.alloc(LARGE / 2) });
  t.strictSame(await response.json(), { size: LARGE / 2 });
});

t.test('more than the budget of all bodies together is 503', async (t) => {
  const holder = await RawClient.open(t, bed.port);
  holder.send(head('/bytes', `Content-Length: ${LARGE}`));
  await pour(holder, LARGE - 1024, (piece) => piece);
  const status = async (): Promise<number> =>
    (await fetch(`${bed.url}/bytes`, { method: 'POST', body: Buffer.alloc(1024 * 1024) })).status;
  let seen = await status();
  while (seen === 200) seen = await status();
  t.equal(seen, 503);
  const before = bed.lines.length;
  holder.socket.destroy();
  await eventually(() => bed.lines.length > before);
  t.equal(await status(), 200);
});

t.test('a body in many small pieces is put together', async (t) => {
  const client = await RawClient.open(t, bed.port);
  const sent = JSON.stringify({ model: 'héllo ✓' });
  client.send(head('/json', `Content-Length: ${Buffer.byteLength(sent)}`));
  for (const byte of Buffer.from(sent)) client.send(Uint8Array.of(byte));
  t.match(await client.until((text) => text.includes('}}')), /"got":\{"model"/);
});

t.test('what is not JSON is 400 with its reason', async (t) => {
  const cases: [string | Uint8Array, RegExp][] = [
    ['', /is empty/],
    ['{', /not valid JSON/],
    ['{"model":NaN}', /not valid JSON/],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), /not valid UTF-8/],
    [Buffer.from([0xed, 0xa0, 0x80]), /not valid UTF-8/],
    ['['.repeat(50_000), /nested deeper than 256/],
    [`{"model":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`, /nested deeper than 256/],
  ];
  for (const [body, detail] of cases) t.match(await postBytes(body), { status: 400, text: detail });
});

t.test('brackets inside strings are not nesting', async (t) => {
  const model = `${'[{'.repeat(1000)}\\"${'[['.repeat(1000)}\\\\`;
  t.equal((await postBytes(`{"model":"${model}"}`)).status, 200);
});

t.test('a member named __proto__ is dropped, escaped or not', async (t) => {
  for (const name of ['__proto__', '\\u005f\\u005fproto__', '__\\u0070roto__']) {
    const { status, text } = await postBytes(`{"model":"a","inner":{"${name}":{"polluted":true}}}`);
    t.equal(status, 200);
    t.strictSame(JSON.parse(text), { got: { model: 'a', inner: {} } });
  }
});

t.test('random bytes are always answered with a documented status', async () => {
  const documented = new Set([200, 400, 415]);
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.json().map((text) => Buffer.from(text)),
    fc.json().chain((text) => fc.nat(text.length).map((cut) => Buffer.from(text.slice(0, cut)))),
    fc.object().map((value) => Buffer.from(JSON.stringify({ model: 'a', ...value }))),
  );
  await fc.assert(
    fc.asyncProperty(
      body,
      fc.constantFrom('application/json', 'text/json', 'application/json; charset=latin1'),
      async (bytes, type) => {
        const { status, text } = await postBytes(bytes, type);
        const parsed = JSON.parse(text) as Record<string, unknown>;
        return (
          documented.has(status) &&
          (status === 200 || (typeof parsed['error'] === 'string' && typeof parsed['detail'] === 'string'))
        );
      },
    ),
    { numRuns: 300 },
  );
});

t.test('NULs and halves of pairs are refused where they would be stored, and prompts hold what people wrote', async (t) => {
  for (const text of ['a\0', '\ud83d', '\ude00'])
    t.match(await postBytes(JSON.stringify({ model: text })), { status: 400, text: /"error":"invalid_request".*`model` holds/ });
  t.match(await postBytes('{"model":"a","\\u0000":1}'), { status: 400, text: /has a member whose name holds a NUL/ });
  t.match(await postBytes(JSON.stringify({ model: '\\u0000 \\ud800 🦙' })), { status: 200 }, 'a backslash is no escape');
  const body = JSON.stringify({ model: 'a\0\ud83d' });
  const response = await fetch(`${bed.url}/prompt`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  t.strictSame(await response.json(), { got: { model: 'a\0\uFFFD' } });
});
