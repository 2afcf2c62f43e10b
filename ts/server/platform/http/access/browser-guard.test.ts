import t, { type Test } from 'tap';
import { ANONYMOUS } from '../principal.ts';
import { OK, openTestBed, plainRoute, RawClient } from '../test-support/test-bed.ts';
import { HostCheck } from './browser-guard.ts';
import { OriginCheck } from './origin-check.ts';

const machine = () => ['gpu-box.lan', 'gpu-box', '192.0.2.7', 'fe80::a:b', '2001:db8::7'];

t.test('hosts that are this machine or listed are answered', (t) => {
  const check = new HostCheck(['ai.example', 'other.example:443', '*.apps.example', '198.51.100.9', '2001:db8::9'], machine);
  const allowed = [
    'localhost',
    'LOCALHOST:8880',
    'localhost.',
    'localhost.:8880',
    'chat.localhost',
    '127.0.0.1:1',
    '127.9.9.9',
    '[::1]',
  ];
  const more = [
    '[::1]:8880',
    '[0:0:0:0:0:0:0:1]',
    'gpu-box',
    'GPU-Box.lan.:8880',
    '192.0.2.7:80',
    '[2001:DB8::7]:8880',
    '[fe80::A:b]',
  ];
  const listed = [
    'ai.example',
    'AI.example.:443',
    'other.example',
    'a.apps.example',
    'b.a.apps.example',
    '198.51.100.9',
    '[2001:db8::9]',
  ];
  for (const host of [...allowed, ...more, ...listed]) {
    t.ok(check.allows(host), host);
    t.ok(check.allows(host), `${host}, remembered`);
  }
  const foreign = [
    'evil.example',
    'localhost.evil.example',
    'evil-localhost',
    'apps.example',
    'xapps.example',
    '192.0.2.8',
    '0.0.0.0',
  ];
  for (const host of [
    ...foreign,
    '',
    'ai.example.evil.example',
    '[::2]',
    '[::ffff:10.0.0.1]',
    'a b',
    '127.0.0.1.evil.example',
    undefined,
  ]) {
    t.notOk(check.allows(host), String(host));
  }
  t.ok(new HostCheck(['*'], machine).allows('evil.example'));
  t.end();
});

t.test('an address that the machine gets later is found', (t) => {
  let names = ['a'];
  const check = new HostCheck([], () => names);
  t.notOk(check.allows('192.0.2.7'));
  names = ['192.0.2.7'];
  t.notOk(check.allows('192.0.2.7'), 'addresses are not read for every request');
  t.end();
});

t.test('origins', (t) => {
  const check = new OriginCheck(['https://App.example:443', 'http://other.example:81']);
  for (const origin of ['https://app.example', 'http://other.example:81']) t.ok(check.isOwnOrListed(origin, 'x'), origin);
  for (const origin of [
    'http://app.example',
    'https://app.example:444',
    'null',
    '',
    'https://app.example.evil.example',
    'file://',
  ]) {
    t.notOk(check.isOwnOrListed(origin, 'x'), origin);
  }
  for (const [origin, host] of [
    ['http://box:8880', 'box:8880'],
    ['https://box', 'BOX:443'],
    ['http://[::1]:80', '[::1]'],
  ] as const) {
    t.ok(check.isOwnOrListed(origin, host), `${origin} is ${host}`);
  }
  t.notOk(check.isOwnOrListed('http://box:8881', 'box:8880'), 'another port is another origin');
  for (const origin of [
    'http://localhost',
    'https://localhost:3000',
    'http://127.0.0.1:5173',
    'http://[::1]:3000',
    'http://a.localhost',
  ]) {
    t.ok(check.isLoopback(origin), origin);
  }
  for (const origin of [
    'null',
    'http://localhost.evil.example',
    'chrome-extension://localhost',
    'http://127.0.0.1.evil.example',
    '',
  ]) {
    t.notOk(check.isLoopback(origin), origin);
  }
  t.ok(new OriginCheck(['*']).isOwnOrListed('null', undefined));
  t.end();
});

let nHandled = 0;
const routes = [
  plainRoute('GET', '/read', () => OK),
  plainRoute('POST', '/unload', () => {
    nHandled += 1;
    return OK;
  }),
];
const options = { allowedHosts: ['ai.example'], allowedOrigins: ['https://app.example'] };

interface Answer {
  status: number;
  cors: string | null;
  text: string;
}

/** A raw request, as fetch sets neither Host nor Origin. */
async function askRaw(t: Test, port: number, method: string, path: string, ...fields: string[]): Promise<Answer> {
  const client = await RawClient.open(t, port);
  client.send([`${method} ${path} HTTP/1.1`, ...fields, 'Connection: close', '', ''].join('\r\n'));
  const text = await client.until((received) => received.includes('\r\n\r\n'));
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]),
    cors: /access-control-allow-origin: (.*)\r\n/i.exec(text)?.[1] ?? null,
    text,
  };
}

t.test('while authentication is off, foreign hosts and pages are refused', async (t) => {
  const { port, publicUrl } = await openTestBed(t, routes, options);
  const local = 'Host: 127.0.0.1';
  const foreign = 'Origin: https://evil.example';
  const cases: [what: string, method: string, fields: string[], status: number, cors: string | null][] = [
    ['a program', 'POST', [local], 200, null],
    ['a foreign host', 'POST', ['Host: evil.example'], 421, null],
    ['a foreign host on a read', 'GET', ['Host: evil.example:8880'], 421, null],
    ['a listed host', 'POST', ['Host: AI.example:8880'], 200, null],
    ['a foreign page', 'POST', [local, foreign], 403, null],
    ['a foreign page that reads', 'GET', [local, foreign], 200, null],
    ['a sandboxed page', 'POST', [local, 'Origin: null'], 403, null],
    ['a page of another port of this machine', 'POST', [local, 'Origin: http://localhost:3000'], 200, 'http://localhost:3000'],
    ['a page of this server', 'POST', ['Host: ai.example', 'Origin: http://ai.example'], 200, 'http://ai.example'],
    ['a listed page', 'POST', [local, 'Origin: https://app.example'], 200, 'https://app.example'],
    ['two origins', 'POST', [local, 'Origin: http://localhost', foreign], 403, null],
    ['another site without Origin', 'POST', [local, 'Sec-Fetch-Site: cross-site'], 403, null],
    ['a link on another site', 'GET', [local, 'Sec-Fetch-Site: cross-site'], 200, null],
    ['this site without Origin', 'POST', [local, 'Sec-Fetch-Site: same-origin'], 200, null],
    ['a preflight of a foreign page', 'OPTIONS', [local, foreign], 403, null],
    ['a preflight of a listed page', 'OPTIONS', [local, 'Origin: https://app.example'], 204, 'https://app.example'],
  ];
  for (const [what, method, fields, status, cors] of cases) {
    const before = nHandled;
    const path = method === 'GET' ? '/read' : '/unload';
    const answer = await askRaw(t, port, method, path, ...fields);
    t.match(answer, { status, cors }, what);
    t.equal(nHandled - before, method === 'POST' && status === 200 ? 1 : 0, `${what}: handled`);
  }
  t.match((await askRaw(t, port, 'GET', '/read', 'Host: evil.example')).text, /"error":"host_not_allowed".*http\.allowed_hosts/);
  t.match((await askRaw(t, port, 'POST', '/unload', local, foreign)).text, /"error":"origin_not_allowed".*http\.allowed_origins/);
  t.notMatch((await askRaw(t, port, 'GET', '/read')).text, /"ok"/, 'a request without Host is not answered');
  const outside = await fetch(`${publicUrl}/read`, { headers: { origin: 'https://app.example' } });
  t.equal(outside.status, 401, 'on the public edge credentials decide');
});

t.test('once credentials decide, any page may call without cookies, unless origins are listed', async (t) => {
  const authenticator = {
    state: () => 'enforce' as const,
    authenticate: () => ({ ...ANONYMOUS, kind: 'key' as const, roles: ['viewer' as const] }),
  };
  const any = await openTestBed(t, routes, { authenticator });
  const listed = await openTestBed(t, routes, { authenticator, ...options });
  const cases: [what: string, port: number, fields: string[], status: number, cors: string | null][] = [
    ['any page', any.port, ['Origin: https://page.example'], 200, 'https://page.example'],
    ['any page that uses cookies', any.port, ['Origin: https://page.example', 'Cookie: s=1'], 403, 'https://page.example'],
    ['a neighbour that uses cookies', any.port, ['Sec-Fetch-Site: same-site', 'Cookie: s=1'], 403, null],
    ['its own page without Origin', any.port, ['Sec-Fetch-Site: same-origin', 'Cookie: s=1'], 200, null],
    ['an address that was typed', any.port, ['Sec-Fetch-Site: none', 'Cookie: s=1'], 200, null],
    ['another site that uses cookies', any.port, ['Sec-Fetch-Site: cross-site', 'Cookie: s=1'], 403, null],
    ['its own page that uses cookies', any.port, ['Origin: https://b.example', 'Cookie: s=1'], 200, 'https://b.example'],
    ['a page that is not listed', listed.port, ['Origin: https://page.example'], 403, null],
    ['a listed page', listed.port, ['Origin: https://app.example', 'Cookie: s=1'], 200, 'https://app.example'],
  ];
  for (const [what, port, fields, status, cors] of cases) {
    t.match(await askRaw(t, port, 'POST', '/unload', 'Host: b.example', ...fields), { status, cors }, what);
  }
});
