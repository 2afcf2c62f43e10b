/** One text for each IP address, so that limits, logs and lists compare addresses and not spellings. */
import { isIPv4, isIPv6 } from 'node:net';

const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * IPv4 in decimal, IPv6 compressed and in lowercase (RFC 5952), an IPv4 address mapped into IPv6 as the IPv4 address that it is. Undefined for
 * what is no address; an address with a zone is one of this machine's links, and no address of a client.
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const compressed = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const mapped = MAPPED.exec(compressed);
  return mapped === null ? compressed : fromGroups(mapped[1] ?? '', mapped[2] ?? '');
}

function fromGroups(high: string, low: string): string {
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 0xff, second >> 8, second & 0xff].join('.');
}
