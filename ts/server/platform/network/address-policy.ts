/**
 * Which addresses the server may call on somebody's behalf. What the operator configured is trusted; what a caller typed, and where any server
 * redirects to, must be https and public, so that nobody reaches a service inside the network.
 */
import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { type AllowedHost, isAllowedBy } from './allowed-host.ts';
import { bareHost, isLoopbackName, isPublicAddress } from './public-address.ts';

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
  /** What is thrown in place of an UnsafeAddress. */
  refusal?: ((sentence: string) => Error) | undefined;
}

export class UnsafeAddress extends Error {
  override readonly name = 'UnsafeAddress';
  readonly code = 'unsafe_address';
}

export class AddressPolicy {
  readonly #trusted: ReadonlySet<string>;
  readonly #allowed: readonly AllowedHost[];
  readonly #resolve: Resolver;
  readonly #refusal: (sentence: string) => Error;

  constructor({ trusted, allowed = [], resolve = systemResolver, refusal }: AddressPolicyOptions) {
    this.#trusted = new Set(trusted.map(comparedOrigin));
    this.#allowed = allowed;
    this.#resolve = resolve;
    this.#refusal = refusal ?? ((sentence) => new UnsafeAddress(sentence));
  }

  /** What the address itself tells; names are judged when they are resolved. `from` redirected here. Throws UnsafeAddress. */
  check(url: URL, from?: URL): void {
    if (this.#isTrusted(url)) return;
    const because = from ? `${from.origin} redirects to ${url.origin}, which` : url.origin;
    if (url.protocol !== 'https:') throw this.#refusal(`${because} is plain ${url.protocol.replace(':', '')}`);
    const host = bareHost(url.hostname);
    if (isLoopbackName(host) || (isIP(host) !== 0 && !isPublicAddress(host)))
      throw this.#refusal(`${because} is an address inside a private network`);
  }

  /**
   * The `lookup` of a connection to that address: it resolves the name once and hands on only what was judged, so a name that is
   * resolved to something else a moment later (DNS rebinding) leads nowhere.
   */
  lookupFor(url: URL): LookupFunction {
    const isTrusted = this.#isTrusted(url);
    return (hostname, options, callback) => {
      this.#resolve(hostname, options, (error, addresses) => {
        const inside = isTrusted ? undefined : findInside(addresses);
        const failure = error ?? (inside && this.#refusal(`${hostname} is ${inside}, an address inside a private network`));
        const [first] = addresses ?? [];
        if (failure) return callback(failure, '');
        if (first === undefined) return callback(new Error(`${hostname} has no address`), '');
        return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
      });
    };
  }

  /**
   * Judges a name that another one resolves, as a proxy does: what this machine resolves to an address inside the network is refused, and what it cannot
   * resolve is the other's to judge, since many networks with a proxy resolve nothing outside. Throws UnsafeAddress.
   */
  judgeName(url: URL): Promise<void> {
    return new Promise((resolve, reject) => {
      this.lookupFor(url)(bareHost(url.hostname), { all: true }, (error) => {
        const isUnknown = ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA'].includes((error as NodeJS.ErrnoException | null)?.code ?? '');
        if (error === null || isUnknown) resolve();
        else reject(error);
      });
    });
  }

  #isTrusted(url: URL): boolean {
    return this.#trusted.has(comparedOrigin(url)) || this.#allowed.some((host) => isAllowedBy(host, url));
  }
}

/** `https://hub.example.` is the same server as `https://hub.example`. */
function comparedOrigin({ protocol, hostname, port }: URL): string {
  return `${protocol}//${bareHost(hostname)}:${port}`;
}

/** One address inside is enough: which of them a connection takes is not known beforehand. */
function findInside(addresses: readonly LookupAddress[]): string | undefined {
  return addresses?.find(({ address }) => !isPublicAddress(address))?.address;
}
