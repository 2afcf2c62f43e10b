/** This is what must hold through either proxy, with the configuration that is generated for it. */
import { request } from 'node:https';
import type { Test } from 'tap';
import { askHttp2, sendRaw } from './edge-client.ts';
import { EVENT_MS, MAX_BODY, N_EVENTS, openEdgeNode } from './edge-node.ts';
import { type ProxyName, startProxy } from './running-proxy.ts';

const HOST = 'Host: localhost\r\n';
const CLOSE = 'Connection: close\r\n';
const SMUGGLED = `GET /smuggled HTTP/1.1\r\n${HOST}\r\n`;

interface RawCase {
  what: string;
  bytes: string;
  /** Statuses of the first response that are right. 0: the connection ends without one. */
  statuses: readonly number[];
  /** A rule of the configuration refuses it, so that its answer is JSON from either proxy. */
  isRefusedByRule?: true;
}

/** Each of these could be read as one request by one party and as two by another. */
const smuggling: readonly RawCase[] = [
  {
    what: 'Content-Length beside Transfer-Encoding',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}Content-Length: ${5 + SMUGGLED.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    statuses: [400, 411],
  },
  {
    what: 'Transfer-Encoding beside a short Content-Length',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
    statuses: [200, 400, 411],
  },
  {
    what: 'two Content-Lengths',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}Content-Length: 0\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    statuses: [400],
  },
  {
    what: 'a list of lengths',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}Content-Length: 0, ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    statuses: [400],
  },
  { what: 'a signed length', bytes: `POST /echo HTTP/1.1\r\n${HOST}Content-Length: +0\r\n\r\n${SMUGGLED}`, statuses: [400] },
  {
    what: 'a length in hexadecimal',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}Content-Length: 0x0\r\n\r\n${SMUGGLED}`,
    statuses: [400],
  },
  {
    what: 'an unknown transfer coding',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    statuses: [400, 422, 501],
  },
  {
    what: 'two transfer codings',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    statuses: [400, 422, 501],
  },
  {
    what: 'a space before the colon',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}Transfer-Encoding : chunked\r\nContent-Length: ${SMUGGLED.length}\r\n${CLOSE}\r\n${SMUGGLED}`,
    statuses: [200, 400],
  },
  {
    what: 'a control character in a name',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}\x0bTransfer-Encoding: chunked\r\nContent-Length: ${SMUGGLED.length}\r\n${CLOSE}\r\n${SMUGGLED}`,
    statuses: [200, 400],
  },
  {
    what: 'a folded header',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: ${SMUGGLED.length}\r\n${CLOSE}\r\n${SMUGGLED}`,
    statuses: [200, 400],
  },
  {
    what: 'bare LF at the ends of chunks',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n${CLOSE}\r\n${SMUGGLED.length.toString(16)}\n${SMUGGLED}\n0\n\n`,
    statuses: [200, 400, 411],
  },
  {
    what: 'trailers like a request',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n${CLOSE}\r\n1\r\nx\r\n0\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    statuses: [200, 400, 411],
  },
  {
    what: 'a chunk longer than it says',
    bytes: `POST /echo HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n${CLOSE}\r\n1\r\nx${SMUGGLED}\r\n0\r\n\r\n`,
    statuses: [200, 400, 411],
  },
  {
    what: 'a body on GET',
    bytes: `GET /echo HTTP/1.1\r\n${HOST}Content-Length: ${SMUGGLED.length}\r\n${CLOSE}\r\n${SMUGGLED}`,
    statuses: [200, 400],
  },
];

/** What no party can read as a request, or not as one of HTTP/1.1. */
const malformed: readonly RawCase[] = [
  { what: 'no request', bytes: 'hello\r\n\r\n', statuses: [400] },
  { what: 'a TLS hello inside of TLS', bytes: '\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n', statuses: [400] },
  {
    what: 'a version that is not there',
    bytes: `GET /echo HTTP/3.7\r\n${HOST}\r\n`,
    statuses: [400, 505],
    isRefusedByRule: true,
  },
  { what: 'NUL in a header', bytes: `GET /echo HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`, statuses: [400] },
  { what: 'two hosts', bytes: `GET /echo HTTP/1.1\r\n${HOST}Host: evil.example\r\n\r\n`, statuses: [400] },
  { what: 'a host that is none', bytes: 'GET /echo HTTP/1.1\r\nHost: a b\r\n\r\n', statuses: [400] },
  {
    what: 'headers that are too large',
    bytes: `GET /echo HTTP/1.1\r\n${HOST}X: ${'y'.repeat(20_000)}\r\n\r\n`,
    statuses: [400, 431],
  },
  {
    what: 'many headers that are too large together',
    bytes: `GET /echo HTTP/1.1\r\n${HOST}${`X: ${'y'.repeat(500)}\r\n`.repeat(60)}\r\n`,
    statuses: [400, 431],
  },
  { what: 'an address that is too long', bytes: `GET /${'y'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`, statuses: [400, 414] },
  { what: 'TRACE', bytes: `TRACE /echo HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, statuses: [405], isRefusedByRule: true },
  {
    what: 'a declared body that is too large',
    bytes: `POST /upload HTTP/1.1\r\n${HOST}Content-Length: ${MAX_BODY + 1}\r\n${CLOSE}\r\n`,
    statuses: [413],
    isRefusedByRule: true,
  },
];

const served: readonly RawCase[] = [
  { what: 'HTTP/1.1', bytes: `GET /echo HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, statuses: [200] },
  { what: 'HTTP/1.0', bytes: `GET /echo HTTP/1.0\r\n${HOST}\r\n`, statuses: [200, 505], isRefusedByRule: true },
  {
    what: 'bare LF at the ends of lines',
    bytes: 'GET /echo HTTP/1.1\nHost: localhost\nConnection: close\n\n',
    statuses: [200, 400],
  },
  { what: 'an absolute address', bytes: `GET https://localhost/echo HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, statuses: [200] },
];

export async function testProxy(t: Test, name: ProxyName): Promise<void> {
  // HAProxy's answer to what it cannot parse is a part of the program.
  const answersInJson = name === 'nginx';
  const node = await openEdgeNode(t);
  const plan = { upstream: `127.0.0.1:${node.port}`, maxBodyBytes: MAX_BODY };
  const { tlsPort, redirectPort } = await startProxy(t, name, plan);

  t.test('no request hides in another one', async (t) => {
    for (const { what, bytes, statuses } of smuggling) {
      node.handled.length = 0;
      const answer = await sendRaw(tlsPort, bytes);
      t.ok(statuses.includes(answer.status), `${what}: ${answer.status}`);
      t.notOk(answer.text.includes('"smuggled":true'), `${what}: the answer is not that of the hidden request`);
      t.notOk(node.handled.includes('/smuggled'), `${what}: the node did not see a second request`);
      if (answer.status >= 400 && (answersInJson || answer.status === 411))
        t.match(answer.json, { error: String, detail: String, status: answer.status }, `${what}: JSON`);
    }
  });

  t.test('what cannot be read is refused in JSON, and does not reach the node', async (t) => {
    for (const { what, bytes, statuses, isRefusedByRule = answersInJson } of malformed) {
      node.handled.length = 0;
      const answer = await sendRaw(tlsPort, bytes);
      t.ok(statuses.includes(answer.status), `${what}: ${answer.status}`);
      if (isRefusedByRule) {
        t.match(answer.text, /content-type: application\/json/i, what);
        t.match(answer.json, { error: /^[a-z0-9_]+$/, detail: /\.$/, status: answer.status }, what);
      }
      t.strictSame(node.handled, [], what);
    }
  });

  t.test('what other versions and spellings mean is the same', async (t) => {
    for (const { what, bytes, statuses, isRefusedByRule } of served) {
      const answer = await sendRaw(tlsPort, bytes);
      t.ok(statuses.includes(answer.status), `${what}: ${answer.status}`);
      if (answer.status === 200) t.match(answer.json, { listener: 'public', isEncrypted: true }, what);
      else if (isRefusedByRule) t.match(answer.json, { error: String, detail: String, status: answer.status }, what);
    }
  });

  t.test('the node hears of the client from the proxy alone', async (t) => {
    const forged = [
      ...[
        'X-Svc-Public-Edge: 0',
        'x-svc-public-edge: 0',
        'X_Svc_Public_Edge: 0',
        'X-Forwarded-For: 192.0.2.7',
        'X-Forwarded-For: 10.0.0.1',
      ],
      ...['X-Forwarded-Proto: http', 'X-Forwarded-Host: evil.example', 'X-Forwarded-Port: 1', 'Forwarded: for=192.0.2.7'],
      ...['X-Real-IP: 192.0.2.7', 'Via: 1.1 evil', 'Proxy: http://evil.example'],
    ];
    const { json } = await sendRaw(tlsPort, `GET /echo HTTP/1.1\r\n${HOST}${forged.join('\r\n')}\r\n${CLOSE}\r\n`);
    t.match(json, { remoteAddress: '127.0.0.1', listener: 'public', isEncrypted: true });
    const { headers } = json as { headers: Record<string, string> };
    t.match(headers, {
      'x-svc-public-edge': '1',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
      host: 'localhost',
    });
    t.match(headers, { 'x-forwarded-host': 'localhost', 'x-forwarded-port': String(tlsPort) });
    for (const name of ['forwarded', 'x-real-ip', 'via', 'proxy']) t.notOk(headers[name], name);
    const over2 = JSON.parse(
      (await askHttp2(t, tlsPort, '/echo', { 'x-forwarded-for': '192.0.2.7', 'x-svc-public-edge': '0' })).text,
    );
    t.match(over2, {
      remoteAddress: '127.0.0.1',
      listener: 'public',
      headers: { 'x-svc-public-edge': '1', 'x-forwarded-for': '127.0.0.1' },
    });
  });

  t.test('a stream is not held back, over HTTP/2', async (t) => {
    const { status, arrivals, text } = await askHttp2(t, tlsPort, '/stream', { accept: 'text/event-stream' });
    t.equal(status, 200);
    t.equal(text.match(/^data: \d+$/gm)?.length, N_EVENTS);
    const lastedMs = (arrivals.at(-1)?.atMs ?? 0) - (arrivals[0]?.atMs ?? 0);
    t.ok(lastedMs > EVENT_MS * (N_EVENTS - 5), `it begins at once: it came over ${lastedMs} ms`);
    const nApart = arrivals.filter(({ atMs }, i) => i > 0 && atMs - (arrivals[i - 1]?.atMs ?? 0) > EVENT_MS / 4).length;
    t.ok(nApart > N_EVENTS / 2, `${nApart} of ${N_EVENTS} events came by themselves`);
  });

  t.test('an upload of 64 MiB arrives whole', async (t) => {
    const size = 64 * 1024 * 1024;
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const answer = await new Promise<string>((resolve, reject) => {
      const headers = { 'content-length': size, 'content-type': 'application/octet-stream' };
      const upload = request(
        { host: '127.0.0.1', port: tlsPort, path: '/upload', method: 'POST', headers, rejectUnauthorized: false },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => {
            text += chunk.toString();
          });
          response.on('end', () => resolve(`${response.statusCode} ${text}`));
        },
      );
      upload.on('error', reject);
      const write = (i: number): void => {
        if (i === 64) upload.end();
        else upload.write(piece, () => write(i + 1));
      };
      write(0);
    });
    t.equal(answer, `200 {"sizeBytes":${size}}`);
  });

  t.test('connections to the node are kept, and a request after a pause meets none that is closing', async (t) => {
    const connections = async (): Promise<number> =>
      Number(/svc_http_connections\{listener="internal"\} (\d+)/.exec(node.metrics.expose())?.[1]);
    for (let i = 0; i < 40; i++) t.equal((await sendRaw(tlsPort, `GET /echo HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, 50)).status, 200);
    t.ok((await connections()) <= 8, `${await connections()} connections`);
    for (const pauseMs of [4_900, 10_050]) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const post = `POST /echo HTTP/1.1\r\n${HOST}Content-Length: 1\r\n${CLOSE}\r\nx`;
      t.equal((await sendRaw(tlsPort, post)).status, 200, `after ${pauseMs} ms`);
    }
  });

  t.test('plain HTTP is redirected', async (t) => {
    const response = await fetch(`http://127.0.0.1:${redirectPort}/chat?x=1`, { redirect: 'manual' });
    t.equal(response.status, 308);
    t.equal(response.headers.get('location'), 'https://localhost/chat?x=1');
  });

  t.test('a node that is down is told in JSON', async (t) => {
    node.server.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const answer = await sendRaw(tlsPort, `GET /echo HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, 3_000);
    t.ok([502, 503].includes(answer.status), String(answer.status));
    t.match(answer.json, { error: /^(bad_gateway|unavailable)$/, detail: String, status: answer.status });
  });
}
