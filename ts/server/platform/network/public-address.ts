/** Which IP addresses are reached over the public internet: the special-purpose registries of RFC 6890, and multicast, are not. */
import { BlockList, isIP } from 'node:net';

const notPublic = new BlockList();
for (const [net, bits] of [
  ...([
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
  ] as const),
  ...([
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 3],
  ] as const),
]) {
  notPublic.addSubnet(net, bits, 'ipv4');
}
for (const [net, bits] of [
  // IETF protocols, Teredo among them, which embeds IPv4 addresses.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4 embeds IPv4 addresses too.
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  notPublic.addSubnet(net, bits, 'ipv6');
}

/** Global unicast (RFC 4291 section 2.4): loopback, link-local, unique local, multicast, IPv4-mapped and NAT64 addresses lie outside. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublic.check(address, 'ipv4');
  // An address with a zone is link-local, whatever it looks like.
  return family === 6 && !address.includes('%') && globalUnicast.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}

export function isLoopbackHost(hostname: string): boolean {
  const host = bareHost(hostname);
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** In the form in which two hosts are compared: without the dot at the end of a whole name, and the brackets that a URL puts around an IPv6 address. */
export function bareHost(hostname: string): string {
  return hostname.replace(/(?<!\.)\.+$/, '').replace(/^\[|\]$/g, '');
}

/** `localhost` and the names below it, which resolvers must answer with loopback (RFC 6761 section 6.3), 127.0.0.0/8 and ::1. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(name) || name === '::1';
}
