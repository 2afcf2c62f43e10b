import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { BodyStream } from '../body/body-stream.ts';
import type { RequestContext } from '../route.ts';
import { eventually, openTestBed, plainRoute, RawClient } from '../test-support/test-bed.ts';
import { endToEndOf } from './hop-by-hop.ts';
import type { ForwardReply } from './reply.ts';

/** A server whose requests are passed on to an upstream, and that upstream. */
async function setUp(t: Test, listener: RequestListener, more: Partial<ForwardReply> = {}) {
  const upstream = createServer(listener);
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  t.teardown(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const forward = ({ path, headers, body }: RequestContext, method: string): ForwardReply => ({
    kind: 'forward',
    url: base + path,
    method,
    headers: endToEndOf(headers),
    ...(method === 'POST' ? { body: body as BodyStream } : {}),
    ...more,
  });
  const bed = await openTestBed(t, [
    plainRoute('GET', '/*', (context) => forward(context, 'GET')),
    plainRoute('POST', '/*', (context) => forward(context, 'POST'), { bodyKind: 'bytes', maxBody: 64 * 1024 * 1024 }),
  ]);
  return { bed, upstream };
}

t.test('status, headers and body come as the other server sent them', async (t) => {
  let seen: IncomingMessage | undefined;
  const { bed } = await setUp(t, (request, response) => {
    seen = request;
    response.setHeader('set-cookie', ['a=1', 'b=2']);
    response.setHeader('x-own', 'yes');
    response.setHeader('connection', 'x-hop');
    response.setHeader('x-hop', '1');
    response.writeHead(418, { 'content-type': 'text/tea' });
    response.end('short and stout');
  });
  const response = await fetch(`${bed.url}/pot`, { headers: { 'x-asked': 'tea', te: 'trailers', 'x-request-id': 'r-1' } });
  t.equal(response.status, 418);
  t.equal(await response.text(), 'short and stout');
  t.strictSame(response.headers.getSetCookie(), ['a=1', 'b=2']);
  t.equal(response.headers.get('x-own'), 'yes');
  t.equal(response.headers.get('x-hop'), null, 'hop-by-hop fields stay behind');
  t.equal(response.headers.get('x-request-id'), 'r-1');
  t.strictSame([seen?.url, seen?.headers['x-asked'], seen?.headers['te']], ['/pot', 'tea', undefined]);
});

t.test('an answer without a body stays one', async (t) => {
  const { bed } = await setUp(t, (request, response) => response.writeHead(request.url === '/none' ? 204 : 304).end());
  t.equal((await fetch(`${bed.url}/none`)).status, 204);
  t.equal((await fetch(`${bed.url}/same`)).status, 304);
});

t.test('a body goes through in both directions', async (t) => {
  const { bed } = await setUp(t, (request, response) => request.pipe(response));
  const body = Buffer.alloc(5_000_000, 'z');
  const response = await fetch(`${bed.url}/echo`, { method: 'POST', body });
  t.ok(body.equals(Buffer.from(await response.arrayBuffer())));
});

t.test('pieces are passed on as they come', async (t) => {
  const { bed } = await setUp(t, (_request, response) => {
    response.write('data: 1\n\n');
  });
  const client = await RawClient.open(t, bed.port);
  client.send('GET /events HTTP/1.1\r\nHost: a\r\n\r\n');
  t.match(await client.until((text) => text.includes('data: 1')), /^HTTP\/1\.1 200/);
});

t.test('a client that leaves ends the request to the other server, before and after its answer began', async (t) => {
  let nClosed = 0;
  let nSeen = 0;
  const { bed } = await setUp(t, (request, response) => {
    nSeen += 1;
    response.on('close', () => {
      nClosed += 1;
    });
    if (request.url === '/begun') response.write('x');
  });
  for (const [i, path] of ['/silent', '/begun'].entries()) {
    const client = await RawClient.open(t, bed.port);
    client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await eventually(() => nSeen === i + 1 && (path === '/silent' || client.received.includes('x')));
    client.socket.destroy();
    await eventually(() => nClosed === i + 1);
  }
  t.equal(nClosed, 2);
});

t.test('a slow client slows the other server', async (t) => {
  let sentBytes = 0;
  let isBlocked = false;
  const { bed } = await setUp(t, (_request, response) => {
    const send = (): void => {
      while (response.write(Buffer.alloc(64 * 1024))) sentBytes += 64 * 1024;
      isBlocked = true;
    };
    response.on('drain', send);
    send();
  });
  const client = await RawClient.open(t, bed.port);
  client.socket.pause();
  client.send('GET /endless HTTP/1.1\r\nHost: a\r\n\r\n');
  let before = -1;
  while (before !== sentBytes || !isBlocked) {
    before = sentBytes;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  t.ok(sentBytes < 64 * 1024 * 1024, `${sentBytes} bytes`);
});

t.test('an upstream that is not there, or breaks off before its answer, is 502 with a code', async (t) => {
  const { bed, upstream } = await setUp(t, (request) => request.socket.destroy());
  t.match(await (await fetch(`${bed.url}/x`)).json(), { error: 'upstream_unreachable', detail: /retry/ });
  upstream.close();
  const refused = await fetch(`${bed.url}/x`);
  t.equal(refused.status, 502);
  t.match(await refused.json(), { error: 'upstream_unreachable', detail: /ECONNREFUSED/ });
});

t.test('an upstream that breaks off in its answer cuts the connection', async (t) => {
  const { bed } = await setUp(t, (request, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('part', () => request.socket.destroy());
  });
  const client = await RawClient.open(t, bed.port);
  client.send('GET /x HTTP/1.1\r\nHost: a\r\n\r\n');
  t.match(await client.untilClosed(), /content-length: 1000/i);
});

t.test('an upstream that says nothing is 504', async (t) => {
  const { bed } = await setUp(t, () => undefined, { headerTimeoutMs: 50 });
  const response = await fetch(`${bed.url}/x`);
  t.equal(response.status, 504);
  t.match(await response.json(), { error: 'upstream_timeout' });
});
