/** What counts as one client where clients are counted by their address. */
import { isIPv6 } from 'node:net';

/** A customer of a provider has a whole /64 of IPv6 addresses, so they count as one. */
export function addressKey(address: string): string {
  // An IPv4 client of a listener that takes both is written as ::ffff:a.b.c.d.
  if (!isIPv6(address) || /^[0:]*:ffff:/i.test(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const nMissing = address.includes('::') ? 8 - groups.length - tail.split(':').filter((group) => group !== '').length : 0;
  return [...groups, ...Array<string>(Math.max(0, nMissing)).fill('0'), ...tail.split(':')]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
