import t from 'tap';
import { AddressPolicy, isPublicAddress } from './address-policy.ts';

const url = (text: string) => new URL(text);

t.test('addresses of private networks are not public', async (t) => {
  for (const address of [
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '0.0.0.0',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
  ]) {
    t.notOk(isPublicAddress(address), address);
  }
  for (const address of ['::', '::1', 'fe80::1', 'fd00::1', '::ffff:10.0.0.1', '64:ff9b::a00:1', 'ff02::1', 'not an address']) {
    t.notOk(isPublicAddress(address), address);
  }
  for (const address of ['8.8.8.8', '172.32.0.1', '2606:4700::1111']) t.ok(isPublicAddress(address), address);
});

t.test('redirects may lead to public https only', async (t) => {
  const policy = new AddressPolicy([url('https://hub.example')]);
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

t.test('what the operator named is trusted, also inside the network', async (t) => {
  const policy = new AddressPolicy([url('http://10.0.0.5:8080/hub')]);
  t.doesNotThrow(() => policy.check(url('http://10.0.0.5:8080/other')));
  t.doesNotThrow(() => policy.check(url('https://10.0.0.5/upgraded')));
  t.throws(() => policy.check(url('http://10.0.0.6/')), { code: 'unsafe_address' });
});

t.test('a name that resolves to a private address is refused when it is looked up', async (t) => {
  const policy = new AddressPolicy([]);
  const found = await new Promise<Error | null>((resolve) => {
    policy.lookupFor(url('https://localhost.example'))('localhost', { all: true }, (error) => resolve(error));
  });
  t.match(found, { code: 'unsafe_address' });
});
