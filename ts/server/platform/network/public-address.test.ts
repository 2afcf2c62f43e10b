import t from 'tap';
import { isPublicAddress } from './public-address.ts';

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
    '203.0.113.1',
  ]) {
    t.notOk(isPublicAddress(address), address);
  }
  for (const address of [
    '::',
    '::1',
    'fe80::1',
    'fd00::1',
    '64:ff9b::a00:1',
    'ff02::1',
    'fec0::1',
    '2002:a00:1::',
    'not an address',
  ])
    t.notOk(isPublicAddress(address), address);
  for (const address of ['::ffff:10.0.0.1', '::ffff:8.8.8.8', '::8.8.8.8', 'fe80::1%eth0', '2001:0:1::'])
    t.notOk(isPublicAddress(address), address);
  for (const address of ['8.8.8.8', '172.32.0.1', '2606:4700::1111', '2a00:1450::1']) t.ok(isPublicAddress(address), address);
});
