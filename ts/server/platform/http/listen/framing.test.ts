import fc from 'fast-check';
import t from 'tap';
import { OK, openTestBed, plainRoute, RawClient } from '../test-support/test-bed.ts';
import { findFramingFault } from './framing.ts';

const plain = ['host', 'a.example'];
const codeOf = (method: string, ...fields: string[]): string | undefined => findFramingFault(method, [...plain, ...fields])?.code;

t.test('plain framing passes', (t) => {
  t.equal(codeOf('GET'), undefined);
  t.equal(codeOf('POST', 'content-length', '0'), undefined);
  t.equal(codeOf('POST', 'transfer-encoding', 'Chunked'), undefined);
  for (const host of ['a', 'a.example:80', '127.0.0.1:8880', '[::1]', '[fe80::1]:443', 'xn--bcher-kva.example']) {
    t.equal(findFramingFault('GET', ['host', host]), undefined, host);
  }
  t.end();
});

t.test('hosts that name nothing, or more than one thing, are refused', (t) => {
  for (const host of ['', 'a b', 'a,b', 'http://a', 'a/b', 'u@a', 'a:80:80', '[::1', 'a\u0001', 'a#b', 'a?b', 'a\\b']) {
    t.equal(findFramingFault('GET', ['host', host])?.code, 'invalid_host', host);
  }
  t.end();
});

t.test('methods are known, and written in capitals', (t) => {
  for (const method of ['get', 'Get', 'FOO', 'PROPFIND']) t.equal(codeOf(method), 'method_not_implemented', method);
  for (const method of ['', 'G T', 'GE(T', 'A'.repeat(40)]) t.equal(codeOf(method), 'invalid_method', method);
  t.end();
});

t.test('the Kelvin sign is no k', (t) => {
  t.equal(codeOf('POST', 'transfer-encoding', 'chun\u212aed'), 'ambiguous_framing');
  t.end();
});

t.test('whatever the lengths and encodings are, only one plain decimal length or exactly chunked passes', (t) => {
  const digits = fc.stringMatching(/^[0-9]{1,15}$/);
  const value = fc.oneof(
    digits,
    fc.constantFrom('', '+1', '-1', '1, 1', '0x1', '1 ', 'chunked', 'CHUNKED', 'gzip, chunked', 'identity'),
    fc.string(),
  );
  const field = fc.tuple(fc.constantFrom('content-length', 'transfer-encoding'), value);
  fc.assert(
    fc.property(fc.array(field, { maxLength: 4 }), (fields) => {
      const isPlain =
        fields.length === 0 ||
        (fields.length === 1 &&
          (fields[0]?.[0] === 'content-length'
            ? /^\d{1,15}$/.test(fields[0][1])
            : /^[cC]hunked$|^CHUNKED$/.test(fields[0]?.[1] ?? '')));
      return (codeOf('POST', ...fields.flat()) === undefined) === isPlain || fields.some(([, given]) => /^chunked$/i.test(given));
    }),
  );
  t.end();
});

const refused: [what: string, request: string, status: number][] = [
  ['two equal lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}', 400],
  ['two different lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}', 400],
  ['an empty length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n', 400],
  ['a coding besides chunked', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 400],
  ['the identity coding', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n', 400],
  ['a body on HEAD', 'HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}', 400],
  ['an empty host', 'GET / HTTP/1.1\r\nHost: \r\n\r\n', 400],
  ['a lowercase method', 'get / HTTP/1.1\r\nHost: a\r\n\r\n', 501],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 501],
  ['a fault on a probe', 'GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
];

t.test('over a socket', async (t) => {
  const bed = await openTestBed(t, [
    plainRoute('GET', '/', () => OK),
    plainRoute('POST', '/', () => OK),
    plainRoute('GET', '/livez', () => OK, { auth: 'open', probe: true }),
  ]);
  for (const [what, request, status] of refused) {
    t.test(`${what} is answered ${status} in JSON and the connection closed`, async (t) => {
      const client = await RawClient.open(t, bed.port);
      client.send(request);
      const answer = await client.untilClosed();
      t.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      t.match(answer, /connection: close/i);
      if (!request.startsWith('HEAD')) t.match(answer, new RegExp(`"status":${status}`));
    });
  }

  t.test('a request hidden behind an ambiguous one is never served', async (t) => {
    const client = await RawClient.open(t, bed.port);
    const hidden = 'GET /?hidden HTTP/1.1\r\nHost: a\r\n\r\n';
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`);
    t.notMatch(await client.untilClosed(), /200 OK/);
  });
});
