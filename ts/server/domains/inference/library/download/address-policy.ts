/**
 * Which addresses a download may touch. What the operator named (the mirror, the typed URL) is trusted; where a server redirects
 * to is not: it must be https and public, so that nobody's redirect reads a service inside the network.
 */
import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { LibraryError } from '../library-error.ts';

/** Not publicly routed: the special-purpose registries of RFC 6890, plus multicast. */
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
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['224.0.0.0', 3],
  ] as const),
] as const) {
  notPublic.addSubnet(net, bits, 'ipv4');
}
for (const [net, bits] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  notPublic.addSubnet(net, bits, 'ipv6');
}

export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !notPublic.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

export function isLoopbackHost(hostname: string): boolean {
  const host = bare(hostname);
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

export class AddressPolicy {
  readonly #trusted: readonly URL[];

  /** Trusted: base addresses that the operator named. */
  constructor(trusted: readonly URL[]) {
    this.#trusted = trusted;
  }

  /** Throws LibraryError unsafe_address. `from` is the address that redirected here. */
  check(url: URL, from?: URL): void {
    if (this.#isTrusted(url)) return;
    const because = from ? `${from.origin} redirects to ${url.origin}` : `${url.origin}`;
    if (url.protocol !== 'https:') throw unsafe(`${because}, which is not https`);
    const host = bare(url.hostname);
    if (host === 'localhost' || (isIP(host) !== 0 && !isPublicAddress(host)))
      throw unsafe(`${because}, an address inside a private network`);
  }

  /** A resolver for http.request that refuses private addresses of names nobody trusted: the name is resolved once, here. */
  lookupFor(url: URL): typeof systemLookup {
    if (this.#isTrusted(url)) return systemLookup;
    return ((hostname: string, options: LookupOptions, callback: (error: Error | null, ...rest: unknown[]) => void) => {
      systemLookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
        if (error) return callback(error);
        const inside = addresses.find(({ address }) => !isPublicAddress(address));
        if (inside) return callback(unsafe(`${hostname} is ${inside.address}, an address inside a private network`));
        return options.all ? callback(null, addresses) : callback(null, addresses[0]?.address, addresses[0]?.family);
      });
    }) as typeof systemLookup;
  }

  #isTrusted(url: URL): boolean {
    return this.#trusted.some(
      ({ protocol, hostname }) => hostname === url.hostname && (protocol === url.protocol || url.protocol === 'https:'),
    );
  }
}

function unsafe(message: string): LibraryError {
  return new LibraryError(
    'unsafe_address',
    message,
    'if that server is yours, name it as the mirror (SVC_MODELS_MIRROR) or give its address directly',
  );
}
