import t from 'tap';
import { json } from '../route.ts';
import { openTestBed, plainRoute, RawClient } from '../test-support/test-bed.ts';
import { ClientAddress, type ForwardingHeader } from './client-address.ts';

const trustedProxies = ['127.0.0.1', '10.0.0.0/8', 'fd00::/8', '2001:db8::5'];

type Case = [what: string, peer: string, value: string | undefined, client: string];

const forwardedFor: Case[] = [
  ['nobody forwards', '10.0.0.1', undefined, '10.0.0.1'],
  ['one hop', '10.0.0.1', '192.0.2.7', '192.0.2.7'],
  ['a peer that is no proxy', '192.0.2.9', '198.51.100.1', '192.0.2.9'],
  ['a proxy that is mapped into IPv6', '0000:0000:0000:0000:0000:ffff:0a00:0001', '192.0.2.7', '192.0.2.7'],
  ['a client that is mapped into IPv6', '10.0.0.1', '::ffff:192.0.2.7', '192.0.2.7'],
  ['the same in hexadecimal', '10.0.0.1', '::FFFF:c000:207', '192.0.2.7'],
  ['what a client put before the proxy’s own word', '10.0.0.1', '1.1.1.1, 8.8.8.8, 192.0.2.7', '192.0.2.7'],
  ['a chain of proxies', '10.0.0.1', '192.0.2.7, 10.9.9.9, fd00::1', '192.0.2.7'],
  ['a client that pretends to be a proxy', '10.0.0.1', '10.1.1.1, 192.0.2.7, 10.0.0.2', '192.0.2.7'],
  ['proxies alone', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['a port', '10.0.0.1', '192.0.2.7:4711', '192.0.2.7'],
  ['IPv6 in brackets with a port', '10.0.0.1', '[2001:DB8:0::9]:443', '2001:db8::9'],
  ['IPv6 without brackets', '10.0.0.1', '2001:0db8:0000:0000:0000:0000:0000:0009', '2001:db8::9'],
  ['a listed IPv6 proxy', '2001:0db8:0:0:0:0:0:5', '192.0.2.7', '192.0.2.7'],
  ['empty elements', '10.0.0.1', ' , 192.0.2.7 ,, ', '192.0.2.7'],
  ['an empty header', '10.0.0.1', '', '10.0.0.1'],
  ['commas alone', '10.0.0.1', ',,,', '10.0.0.1'],
  ['garbage nearest to the proxy', '10.0.0.1', '192.0.2.7, <script>', '10.0.0.1'],
  ['garbage behind a proxy of the chain', '10.0.0.1', '192.0.2.7, unknown, 10.0.0.2', '10.0.0.2'],
  ['an address out of range', '10.0.0.1', '256.1.1.1', '10.0.0.1'],
  ['octal digits', '10.0.0.1', '0300.0.2.7', '10.0.0.1'],
  ['a decimal address', '10.0.0.1', '3221225991', '10.0.0.1'],
  ['a zone', '10.0.0.1', 'fe80::1%eth0', '10.0.0.1'],
  ['a name', '10.0.0.1', 'localhost', '10.0.0.1'],
  ['a bracket that is not closed', '10.0.0.1', '[::1', '10.0.0.1'],
  ['a port that is none', '10.0.0.1', '192.0.2.7:http', '10.0.0.1'],
  ['many elements', '10.0.0.1', `${'1.1.1.1, '.repeat(3000)}192.0.2.7`, '192.0.2.7'],
];

const forwarded: Case[] = [
  ['one hop', '10.0.0.1', 'for=192.0.2.60;proto=http;by=203.0.113.43', '192.0.2.60'],
  ['quoted IPv6 with a port', '10.0.0.1', 'For="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
  ['a chain', '10.0.0.1', 'for=1.1.1.1, for=192.0.2.60 , FOR=10.0.0.4;proto=https', '192.0.2.60'],
  ['a comma in quotes', '10.0.0.1', 'for=192.0.2.60;host="a,for=1.1.1.1"', '192.0.2.60'],
  ['an escaped quote', '10.0.0.1', 'for=192.0.2.60;host="a\\",for=1.1.1.1"', '192.0.2.60'],
  ['an obfuscated name', '10.0.0.1', 'for=_hidden', '10.0.0.1'],
  ['unknown', '10.0.0.1', 'for=192.0.2.60, for=unknown', '10.0.0.1'],
  ['for twice in one element', '10.0.0.1', 'for=192.0.2.60;for=192.0.2.61', '10.0.0.1'],
  ['no for', '10.0.0.1', 'proto=https', '10.0.0.1'],
  ['a quote that is not closed', '10.0.0.1', 'for="192.0.2.60', '10.0.0.1'],
  ['no pair', '10.0.0.1', '192.0.2.60', '10.0.0.1'],
  ['a peer that is no proxy', '192.0.2.9', 'for=198.51.100.1', '192.0.2.9'],
];

for (const [header, cases] of [
  ['x-forwarded-for', forwardedFor],
  ['forwarded', forwarded],
] as [ForwardingHeader, Case[]][]) {
  t.test(`who is the client by ${header}`, async (t) => {
    const address = new ClientAddress({ trustedProxies, header });
    for (const [what, peer, value, client] of cases) {
      t.equal(address.of(peer, new Map(value === undefined ? [] : [[header, value]])), client, what);
    }
    const other = header === 'forwarded' ? 'x-forwarded-for' : 'forwarded';
    const both = new Map([[other, header === 'forwarded' ? '1.1.1.1' : 'for=1.1.1.1']]);
    t.equal(address.of('10.0.0.1', both), '10.0.0.1', 'the other header is not read');
  });
}

t.test('without trusted proxies no header counts', async (t) => {
  const address = new ClientAddress({ trustedProxies: [], header: 'x-forwarded-for' });
  t.equal(address.of('127.0.0.1', new Map([['x-forwarded-for', '192.0.2.7']])), '127.0.0.1');
});

t.test('entries that are no addresses are refused', async (t) => {
  for (const entry of [
    '',
    'proxy.lan',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '::/129',
    '10.0.0.0/8/8',
    '::ffff:10.0.0.0/104',
    'fe80::1%eth0',
    '1.2.3',
  ]) {
    t.throws(() => new ClientAddress({ trustedProxies: [entry], header: 'x-forwarded-for' }), RangeError, entry);
  }
});

t.test('several header lines are one chain, and handlers and the log see the client', async (t) => {
  const routes = [plainRoute('GET', '/who', ({ remoteAddress }) => json(200, { remoteAddress }), { auth: 'open' })];
  const proxies = { trustedProxies: ['127.0.0.0/8'], header: 'x-forwarded-for' as const };
  const bed = await openTestBed(t, routes, { proxies });
  const client = await RawClient.open(t, bed.port);
  client.send(
    'GET /who HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 192.0.2.7\r\nConnection: close\r\n\r\n',
  );
  t.match(await client.until((text) => text.includes('remoteAddress')), /"remoteAddress":"192\.0\.2\.7"/);
  t.ok(
    bed.lines.some((line) => line.includes('"remote":"192.0.2.7"')),
    'the request log',
  );
});

t.test('what a proxy says makes nobody the operator at the machine', async (t) => {
  const routes = [plainRoute('POST', '/admin', () => json(200, {}), { auth: 'admin' })];
  const proxies = { trustedProxies: ['127.0.0.0/8'], header: 'x-forwarded-for' as const };
  const bed = await openTestBed(t, routes, { proxies });
  const ask = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${bed.url}/admin`, { method: 'POST', headers })).status;
  t.equal(await ask({}), 200, 'a program on the machine');
  for (const header of ['x-forwarded-for', 'forwarded', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']) {
    t.equal(await ask({ [header]: '127.0.0.1' }), 401, header);
  }
  t.equal(await ask({ 'x-svc-public-edge': '1' }), 401);
});
