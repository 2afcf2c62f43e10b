import type { LookupAddress, LookupOptions } from 'node:dns';
import fc from 'fast-check';
import t from 'tap';
import { AddressPolicy, type Resolver } from './address-policy.ts';
import { parseAllowedHost } from './allowed-host.ts';

const url = (text: string) => new URL(text);

/** Gives the addresses one after the other, the last one for ever. */
function scriptedResolver(...answers: string[][]): Resolver & { names: string[] } {
  const names: string[] = [];
  const resolve: Resolver = (hostname, _options, callback) => {
    names.push(hostname);
    const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return Object.assign(resolve, { names });
}

function lookUp(policy: AddressPolicy, target: URL, options: LookupOptions = { all: true }): Promise<string[]> {
  return new Promise((resolve, reject) => {
    policy.lookupFor(target)(target.hostname, options, (error, found: string | LookupAddress[]) => {
      if (error) reject(error);
      else resolve(typeof found === 'string' ? [found] : found.map(({ address }) => address));
    });
  });
}

t.test('redirects may lead to public https only', async (t) => {
  const policy = new AddressPolicy({ trusted: [url('https://hub.example')] });
  const from = url('https://hub.example/x');
  t.doesNotThrow(() => policy.check(url('https://cdn.example/x'), from));
  for (const target of [
    'http://cdn.example/x',
    'https://127.0.0.1/x',
    'https://[::1]/x',
    'https://localhost/x',
    'https://10.0.0.5/x',
    'http://hub.example/x',
    'file:///x',
  ]) {
    t.throws(() => policy.check(url(target), from), { code: 'unsafe_address' }, target);
  }
});

t.test('what a caller types is judged like a redirect, however the address is written', async (t) => {
  const policy = new AddressPolicy({ trusted: [url('https://hub.example')] });
  for (const host of [
    '2130706433',
    '0x7f.1',
    '127.1',
    '017700000001',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[fe80::1]',
    'LOCALHOST',
  ])
    t.throws(() => policy.check(url(`https://${host}/x.gguf`)), { code: 'unsafe_address' }, host);
});

t.test('a name that ends with a dot is the name without it', async (t) => {
  const trusted = [url('http://hub.lan:8080')];
  const allowed = [parseAllowedHost('files.lan')].filter((host) => host !== undefined);
  const policy = new AddressPolicy({ trusted, allowed, resolve: scriptedResolver(['8.8.8.8']) });
  for (const inside of ['https://localhost./', 'https://LOCALHOST..:8443/x', 'https://api.localhost./', 'https://127.0.0.1./'])
    t.throws(() => policy.check(url(inside)), { code: 'unsafe_address' }, inside);
  for (const good of ['http://hub.lan.:8080/', 'https://files.lan./x', 'https://cdn.example./'])
    t.doesNotThrow(() => policy.check(url(good)), good);
});

t.test('what the operator named is trusted inside the network, and nothing else of that machine', async (t) => {
  const policy = new AddressPolicy({ trusted: [url('http://10.0.0.5:8080/hub')] });
  t.doesNotThrow(() => policy.check(url('http://10.0.0.5:8080/other')));
  for (const other of ['http://10.0.0.5:9200/', 'https://10.0.0.5/', 'http://10.0.0.6:8080/'])
    t.throws(() => policy.check(url(other)), { code: 'unsafe_address' }, other);
});

t.test('allowed hosts may lie inside, with plain http and any port only where that is said', async (t) => {
  const allowed = ['files.lan', '10.0.0.5:8443', 'http://plain.lan:8080', '[fd00::5]']
    .map(parseAllowedHost)
    .filter((host) => host !== undefined);
  const policy = new AddressPolicy({ trusted: [], allowed, resolve: scriptedResolver(['10.0.0.9']) });
  for (const target of ['https://files.lan:9/', 'https://10.0.0.5:8443/', 'http://plain.lan:8080/', 'https://[fd00::5]/'])
    t.doesNotThrow(() => policy.check(url(target)), target);
  for (const target of ['http://files.lan/', 'https://10.0.0.5/', 'http://plain.lan/', 'https://[fd00::6]/'])
    t.throws(() => policy.check(url(target)), { code: 'unsafe_address' }, target);
  t.strictSame(await lookUp(policy, url('https://files.lan/')), ['10.0.0.9']);
  await t.rejects(lookUp(policy, url('https://other.lan/')), { code: 'unsafe_address' });
});

t.test('entries that are no hosts are refused', async (t) => {
  for (const entry of ['', 'a b', 'https://a/path', 'a@b', 'ftp://a', 'a:99999', '[::1', 'a?x'])
    t.equal(parseAllowedHost(entry), undefined, entry);
});

t.test('a name is refused when any of its addresses lies inside', async (t) => {
  const target = url('https://files.example/');
  const of = (...addresses: string[]) => new AddressPolicy({ trusted: [], resolve: scriptedResolver(addresses) });
  t.strictSame(await lookUp(of('8.8.8.8', '2606:4700::1111'), target), ['8.8.8.8', '2606:4700::1111']);
  t.strictSame(await lookUp(of('8.8.8.8'), target, {}), ['8.8.8.8'], 'a caller that wants one address gets one');
  for (const inside of ['127.0.0.1', '::1', '::ffff:8.8.8.8', '169.254.169.254', 'fe80::1%eth0', '64:ff9b::808:808'])
    await t.rejects(lookUp(of('8.8.8.8', inside), target), { code: 'unsafe_address' }, inside);
  await t.rejects(lookUp(of(), target), { message: /no address/ });
});

t.test(
  'a name that is resolved to another address a moment later is judged anew, and never resolved behind the judgement',
  async (t) => {
    const resolve = scriptedResolver(['8.8.8.8'], ['127.0.0.1']);
    const policy = new AddressPolicy({ trusted: [], resolve });
    const target = url('https://rebind.example/');
    policy.check(target);
    t.strictSame(resolve.names, [], 'a name is resolved by the connection alone');
    t.strictSame(await lookUp(policy, target), ['8.8.8.8'], 'the connection gets what was judged');
    await t.rejects(lookUp(policy, target), { code: 'unsafe_address' });
    t.strictSame(resolve.names, ['rebind.example', 'rebind.example']);
  },
);

t.test('property: no address inside passes, as a literal or behind a name', async (t) => {
  const byte = fc.integer({ min: 0, max: 255 });
  const inside = fc.oneof(
    fc.tuple(fc.constantFrom(0, 10, 127, 224, 239, 240, 255), byte, byte, byte).map((bytes) => bytes.join('.')),
    fc
      .tuple(fc.constantFrom('192.168', '169.254', '172.16', '172.31', '100.64', '198.18'), byte, byte)
      .map((parts) => parts.join('.')),
    fc
      .tuple(fc.constantFrom('fe80', 'fc00', 'fdff', 'ff02', '::ffff', '64:ff9b:', '2002', '2001:0', '2001:db8'), fc.ipV4())
      .map(([prefix, v4]) => (prefix.startsWith('::') ? `${prefix}:${v4}` : `${prefix}::${v4}`.replace(':::', '::'))),
  );
  await fc.assert(
    fc.asyncProperty(inside, async (address) => {
      const policy = new AddressPolicy({ trusted: [], resolve: scriptedResolver([address]) });
      const literal = url(`https://${address.includes(':') ? `[${address}]` : address}/x.gguf`);
      t.throws(() => policy.check(literal), { code: 'unsafe_address' }, address);
      await t.rejects(lookUp(policy, url('https://name.example/')), { code: 'unsafe_address' }, address);
    }),
    { numRuns: 200 },
  );
});
