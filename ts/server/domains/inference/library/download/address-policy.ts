/**
 * Which addresses a download may touch. What the operator configured (the hub or its mirror, models.allowed_hosts) is trusted; what a
 * caller typed, and where any server redirects to, must be https and public, so that nobody reads a service inside the network.
 */
import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { LibraryError } from '../library-error.ts';
import { type AllowedHost, isAllowedBy } from './allowed-host.ts';
import { bareHost, isPublicAddress } from './public-address.ts';

/** Gives all addresses of a name. */
export type Resolver = (
  hostname: string,
  options: LookupOptions,
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

const systemResolver: Resolver = (hostname, options, callback) => systemLookup(hostname, { ...options, all: true }, callback);

export interface AddressPolicyOptions {
  /** Addresses that the operator named: their scheme, host and port. */
  trusted: readonly URL[];
  allowed?: readonly AllowedHost[] | undefined;
  resolve?: Resolver | undefined;
}

export class AddressPolicy {
  readonly #trusted: ReadonlySet<string>;
  readonly #allowed: readonly AllowedHost[];
  readonly #resolve: Resolver;

  constructor({ trusted, allowed = [], resolve = systemResolver }: AddressPolicyOptions) {
    this.#trusted = new Set(trusted.map(({ origin }) => origin));
    this.#allowed = allowed;
    this.#resolve = resolve;
  }

  /** What the address itself tells; names are judged when they are resolved. `from` redirected here. Throws LibraryError unsafe_address. */
  check(url: URL, from?: URL): void {
    if (this.#isTrusted(url)) return;
    const because = from ? `${from.origin} redirects to ${url.origin}, which` : url.origin;
    if (url.protocol !== 'https:') throw unsafe(`${because} is plain ${url.protocol.replace(':', '')}`);
    const host = bareHost(url.hostname);
    if (host === 'localhost' || (isIP(host) !== 0 && !isPublicAddress(host)))
      throw unsafe(`${because} is an address inside a private network`);
  }

  /**
   * The `lookup` of a connection to that address: it resolves the name once and hands on only what was judged, so a name that is
   * resolved to something else a moment later (DNS rebinding) leads nowhere.
   */
  lookupFor(url: URL): LookupFunction {
    const isTrusted = this.#isTrusted(url);
    return (hostname, options, callback) => {
      this.#resolve(hostname, options, (error, addresses) => {
        const failure = error ?? (isTrusted ? undefined : findInside(hostname, addresses));
        const [first] = addresses ?? [];
        if (failure) return callback(failure, '');
        if (first === undefined) return callback(new Error(`${hostname} has no address`), '');
        return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
      });
    };
  }

  #isTrusted(url: URL): boolean {
    return this.#trusted.has(url.origin) || this.#allowed.some((host) => isAllowedBy(host, url));
  }
}

/** One address inside is enough: which of them a connection takes is not known beforehand. */
function findInside(hostname: string, addresses: readonly LookupAddress[]): LibraryError | undefined {
  const inside = addresses.find(({ address }) => !isPublicAddress(address));
  return inside && unsafe(`${hostname} is ${inside.address}, an address inside a private network`);
}

function unsafe(message: string): LibraryError {
  return new LibraryError(
    'unsafe_address',
    message,
    'use an https address on the internet, or, if that server is yours, have its host named in models.allowed_hosts',
  );
}
