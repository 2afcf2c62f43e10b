import { BlockList, isIPv6 } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { AddressList, canonicalAddress } from './address-list.ts';

t.test('one text for each address', async (t) => {
  for (const [given, canonical] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['0000:0000:0000:0000:0000:FFFF:C000:0201', '192.0.2.1'],
    ['2001:0DB8::0001', '2001:db8::1'],
    ['::', '::'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['::192.0.2.1', '::c000:201'],
    ['192.0.2.01', undefined],
    ['fe80::1%eth0', undefined],
    ['', undefined],
    ['localhost', undefined],
  ] as const) {
    t.equal(canonicalAddress(given), canonical, given);
  }
});

t.test('edges of blocks', async (t) => {
  const list = new AddressList(['10.0.0.0/9', '192.0.2.4/30', '198.51.100.7', '2001:db8::/33', 'fd00::/8', '::1']);
  for (const inside of [
    '10.0.0.0',
    '10.127.255.255',
    '192.0.2.7',
    '198.51.100.7',
    '::ffff:10.1.1.1',
    '2001:db8:7fff::1',
    'fdff::',
    '::1',
  ]) {
    t.ok(list.has(inside), inside);
  }
  for (const outside of [
    '10.128.0.0',
    '9.255.255.255',
    '192.0.2.8',
    '192.0.2.3',
    '198.51.100.6',
    '2001:db8:8000::',
    'fe00::',
    '::2',
    '::',
    '',
    'x',
  ]) {
    t.notOk(list.has(outside), outside);
  }
  t.ok(new AddressList(['0.0.0.0/0']).has('255.1.2.3'));
  t.notOk(new AddressList(['0.0.0.0/0']).has('::1'), 'the other family is another list');
});

t.test('property: it finds what Node’s own list finds', async (t) => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6());
  fc.assert(
    fc.property(address, address, fc.nat(128), (net, asked, bits) => {
      const canonical = canonicalAddress(net) ?? '';
      fc.pre(net.includes(':') === canonical.includes(':'));
      const nBits = Math.min(bits, isIPv6(canonical) ? 128 : 32);
      const own = new AddressList([`${net}/${nBits}`]);
      const theirs = new BlockList();
      theirs.addSubnet(canonical, nBits, isIPv6(canonical) ? 'ipv6' : 'ipv4');
      for (const each of [asked, net]) {
        const text = canonicalAddress(each) ?? '';
        if (isIPv6(text) !== isIPv6(canonical)) continue;
        t.equal(own.has(each), theirs.check(text, isIPv6(text) ? 'ipv6' : 'ipv4'), `${each} in ${net}/${nBits}`);
      }
    }),
    { numRuns: 500 },
  );
});
