import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import t, { type Test } from 'tap';
import { createSelfSigned } from '../http/self-signed.ts';
import { AddressPolicy, type Resolver } from './address-policy.ts';
import { HttpClient, type HttpClientOptions } from './http-client.ts';
import { httpServer, httpsServer, proxyServer, tcpServer } from './test-support/test-servers.ts';
import { trustCertificatesOf } from './trusted-certificates.ts';

function newClient(t: Test, options: HttpClientOptions = {}): HttpClient {
  const client = new HttpClient({ environment: {}, ...options });
  t.teardown(() => client.close());
  return client;
}

const text = async (client: HttpClient, url: URL) => (await (await client.request(url)).bytes(1000)).toString();

t.test('requests to one server share a connection', async (t) => {
  const ports = new Set<number | undefined>();
  const url = await httpServer(t, (request, response) => {
    ports.add(request.socket.remotePort);
    response.end('hello');
  });
  const client = newClient(t, { connections: 1 });
  for (let i = 0; i < 3; i++) t.equal(await text(client, url), 'hello');
  t.equal(ports.size, 1);
  await client.close();
  t.equal(await text(client, url), 'hello', 'a closed client may be used again');
  t.equal(ports.size, 2);
});

t.test('method, fields and body arrive, and status, fields and body come back', async (t) => {
  let seen: IncomingMessage | undefined;
  const url = await httpServer(t, (request, response) => {
    seen = request;
    response.writeHead(
      418,
      [
        ['x-one', '1'],
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ].flat(),
    );
    request.pipe(response);
  });
  const body = Buffer.alloc(300_000, 'z');
  const answer = await newClient(t).request(new URL('/a?b=c', url), { method: 'PUT', headers: { 'x-asked': 'tea' }, body });
  t.strictSame([answer.status, answer.isOk, answer.header('x-one')], [418, false, '1']);
  t.strictSame(answer.headers['set-cookie'], ['a=1', 'b=2']);
  t.ok(body.equals(await answer.bytes(300_000)));
  t.match(seen, { method: 'PUT', url: '/a?b=c', headers: { 'x-asked': 'tea', 'content-length': '300000' } });
});

t.test('a name and a password in the address are sent as credentials', async (t) => {
  const url = await httpServer(t, (request, response) => response.end(request.headers.authorization));
  url.username = 'me';
  url.password = 'p%40ss';
  t.equal(await text(newClient(t), url), `Basic ${Buffer.from('me:p@ss').toString('base64')}`);
});

t.test('redirects are followed for GET, as far as they may be, and never with credentials to another origin', async (t) => {
  const seen: IncomingMessage['headers'][] = [];
  const far = await httpServer(t, (request, response) => {
    seen.push(request.headers);
    response.end('far');
  });
  const near = await httpServer(t, (request, response) => {
    seen.push(request.headers);
    if (request.url === '/lost') return response.writeHead(302).end();
    return response.writeHead(302, { location: request.url === '/' ? '/again' : far.href }).end();
  });
  const secrets = { authorization: 'Bearer s', cookie: 'a=1', 'x-api-key': 's' };
  const headers = { ...secrets, range: 'bytes=0-' };
  const client = newClient(t);
  const answer = await client.request(near, { headers, maxRedirects: 2 });
  t.equal((await answer.bytes(10)).toString(), 'far');
  t.strictSame(
    answer.redirects.map(({ url }) => url.pathname),
    ['/', '/again'],
  );
  t.match(seen[1], headers);
  t.equal(seen[2]?.['range'], 'bytes=0-');
  for (const name of Object.keys(secrets)) t.equal(seen[2]?.[name], undefined, name);
  for (const request of [{ maxRedirects: 1 }, {}, { method: 'POST', maxRedirects: 5 }]) {
    const unfollowed = await client.request(near, request);
    t.equal(unfollowed.isRedirect, true);
    unfollowed.discard();
  }
  const lost = await client.request(new URL('/lost', near), { maxRedirects: 5 });
  t.strictSame([lost.status, lost.location], [302, undefined]);
});

t.test('a redirect into the network is refused', async (t) => {
  const url = await httpServer(t, (_request, response) => response.writeHead(307, { location: 'https://10.0.0.1/' }).end());
  const client = newClient(t, { policy: new AddressPolicy({ trusted: [url] }) });
  await t.rejects(client.request(url, { maxRedirects: 3 }), { code: 'unsafe_address', message: /redirects to https:\/\/10/ });
});

t.test('a connection goes to the address that was judged, and a name that leads inside later is refused', async (t) => {
  let nSeen = 0;
  const url = await tcpServer(t, () => {
    nSeen += 1;
  });
  const found = [['127.0.0.1'], ['127.0.0.1']];
  const resolve: Resolver = (_name, _options, callback) =>
    callback(
      null,
      (found.shift() ?? []).map((address) => ({ address, family: 4 })),
    );
  const client = newClient(t, { policy: new AddressPolicy({ trusted: [], resolve }) });
  const named = new URL(`https://rebind.example:${url.port}/`);
  await t.rejects(client.request(named), { code: 'unsafe_address' });
  await t.rejects(client.request(named), { code: 'unsafe_address' });
  t.strictSame([found.length, nSeen], [0, 0], 'each attempt is judged, and nothing is connected to');
  await t.rejects(client.request(new URL('http://a.example')), { code: 'unsafe_address' }, 'plain http');
});

t.test('servers that stall end the request at its stage', async (t) => {
  const silent = await tcpServer(t, () => undefined);
  const secure = new URL(silent.href.replace('http:', 'https:'));
  const half = await httpServer(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('half');
  });
  await t.rejects(newClient(t, { connectMs: 100 }).request(secure), {
    failure: 'connect_timeout',
    message: 'no connection for 0.1 s',
  });
  await t.rejects(newClient(t, { firstByteMs: 100 }).request(silent), { name: 'HttpClientError', failure: 'first_byte_timeout' });
  const answer = await newClient(t, { idleMs: 100 }).request(half);
  await t.rejects(answer.bytes(10), { failure: 'idle_timeout', message: 'no data for 0.1 s' });
});

t.test('an answer that never ends is read up to a limit, and then its connection is closed', async (t) => {
  const closed = Promise.withResolvers<void>();
  const url = await httpServer(t, (_request, response) => {
    const send = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(10_000)));
    };
    response.on('drain', send).on('close', closed.resolve);
    send();
  });
  const answer = await newClient(t).request(url);
  await t.rejects(answer.bytes(100_000), { name: 'HttpClientError', failure: 'body_too_large' });
  await closed.promise;
});

t.test('answers that are cut or are no HTTP', async (t) => {
  const client = newClient(t);
  const closing = await tcpServer(t, (socket) => socket.once('data', () => socket.end()));
  await t.rejects(client.request(closing), { failure: 'connection_closed', code: 'ECONNRESET' });
  const cut = await tcpServer(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'));
  });
  const answer = await client.request(cut);
  await t.rejects(answer.bytes(10), { name: 'HttpClientError', failure: 'connection_closed' });
  const odd = await tcpServer(t, (socket) => socket.once('data', () => socket.end('220 smtp.example ESMTP\r\n')));
  await t.rejects(client.request(odd), { name: 'HttpClientError', failure: 'invalid_answer' });
  const hostile = await httpServer(t, (_request, response) => response.writeHead(200, ['__proto__', 'x']).end());
  await t.rejects(client.request(hostile));
  const long = await tcpServer(t, (socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`));
  });
  await t.rejects(client.request(long), { name: 'HttpClientError', failure: 'invalid_answer' });
});

t.test('a body is taken from its source no faster than the server reads, and a source that fails ends the request', async (t) => {
  const resume = Promise.withResolvers<void>();
  const url = await httpServer(t, async (request, response) => {
    await resume.promise;
    request.resume().on('end', () => response.end('read'));
  });
  let nTaken = 0;
  async function* source(): AsyncGenerator<Uint8Array> {
    for (; nTaken < 1000; nTaken += 1) yield Buffer.alloc(64 * 1024);
  }
  const client = newClient(t, { firstByteMs: 0 });
  const pending = client.request(url, { method: 'POST', body: source() });
  for (let before = -1; before !== nTaken || nTaken === 0; ) {
    before = nTaken;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  t.ok(nTaken < 1000, `${nTaken} pieces`);
  resume.resolve();
  t.equal((await (await pending).bytes(10)).toString(), 'read');
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('x');
    throw new Error('the disk failed');
  }
  await t.rejects(client.request(url, { method: 'POST', body: failing() }), { message: 'the disk failed' });
});

t.test('a signal ends a request and its answer with its reason', async (t) => {
  const url = await httpServer(t, (request, response) => {
    if (request.url === '/begun') response.write('x');
  });
  const client = newClient(t);
  const before = new AbortController();
  const pending = client.request(url, { signal: before.signal });
  before.abort(new Error('stopped'));
  await t.rejects(pending, { message: 'stopped' });
  const during = new AbortController();
  const answer = await client.request(new URL('/begun', url), { signal: during.signal });
  const reading = answer.bytes(10);
  during.abort(new Error('gone'));
  await t.rejects(reading, { message: 'gone' });
});

t.test(
  'the environment’s proxy is asked for plain http, with its credentials and without the policy’s names inside',
  async (t) => {
    const proxy = await proxyServer(t);
    const environment = { HTTP_PROXY: `http://me:secret@${proxy.url.host}`, NO_PROXY: 'lan' };
    const allowed = [{ hostname: 'files.example', port: undefined, allowsPlain: true }];
    const resolve: Resolver = (name, _options, callback) => {
      if (name === 'files.example') callback(Object.assign(new Error('unknown here'), { code: 'ENOTFOUND' }), []);
      else callback(null, [{ address: '10.0.0.1', family: 4 }]);
    };
    const client = newClient(t, { environment, policy: new AddressPolicy({ trusted: [], allowed, resolve }) });
    t.equal(await text(client, new URL('http://files.example/a?b')), 'files.example by proxy');
    t.strictSame(proxy.asked, [`GET http://files.example/a?b Basic ${Buffer.from('me:secret').toString('base64')}`]);
    const ofHttps = newClient(t, {
      environment: { HTTPS_PROXY: proxy.url.href },
      policy: new AddressPolicy({ trusted: [], resolve }),
    });
    await t.rejects(ofHttps.request(new URL('https://inside.example/')), { code: 'unsafe_address' });
    t.equal(proxy.asked.length, 1, 'the proxy was not asked');
  },
);

t.test('https goes through a tunnel of the proxy, to a server whose authority the operator’s file names', async (t) => {
  const { certFile, keyFile } = await createSelfSigned({ folder: t.testdir(), names: ['secure.example'] });
  const files = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  const url = await httpsServer(t, files, (request, response) => response.end(`${request.url} in secret`));
  const direct = newClient(t);
  await t.rejects(direct.request(url), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  t.throws(() => trustCertificatesOf(keyFile), { code: 'invalid_setting', message: /has no certificate/ });
  trustCertificatesOf(certFile);
  t.equal(await text(newClient(t), url), '/ in secret');
  const proxy = await proxyServer(t);
  const client = newClient(t, { connections: 1, environment: { HTTPS_PROXY: proxy.url.href } });
  const named = new URL(`https://secure.example:${url.port}/a`);
  t.equal(await text(client, named), '/a in secret');
  t.equal(await text(client, named), '/a in secret');
  t.strictSame(proxy.asked, [`CONNECT secure.example:${url.port}`], 'one tunnel carries both');
});

t.test('a proxy that refuses or is not there', async (t) => {
  const refusing = await proxyServer(t, 407);
  const client = newClient(t, { environment: { HTTPS_PROXY: refusing.url.href } });
  await t.rejects(client.request(new URL('https://a.example/')), { failure: 'proxy_failed', message: /answers 407/ });
  const silent = await tcpServer(t, () => undefined);
  const slow = newClient(t, { connectMs: 100, environment: { HTTPS_PROXY: silent.href } });
  await t.rejects(slow.request(new URL('https://a.example/')), { failure: 'proxy_failed', message: /cannot be used/ });
});
