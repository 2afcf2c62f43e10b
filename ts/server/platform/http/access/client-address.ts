/**
 * Finds the address that counts as the client's for limits, the audit log and the request log. Headers are believed from the operator's own proxies
 * only: whoever else sends them would choose the address that is limited and blamed.
 */
import { AddressList, canonicalAddress } from '../../network/address-list.ts';
import { type ForwardedChain, readForwarded, readForwardedFor } from './forwarded-chain.ts';

/** The one header that is read. A proxy that writes one of them passes a client's own copy of the other on. */
export const FORWARDING_HEADER_NAMES = ['x-forwarded-for', 'forwarded'] as const;
export type ForwardingHeader = (typeof FORWARDING_HEADER_NAMES)[number];

export interface ClientAddressOptions {
  /** Addresses and CIDR blocks of the proxies. */
  trustedProxies: readonly string[];
  header: ForwardingHeader;
}

export class ClientAddress {
  readonly #proxies: AddressList;
  readonly #header: ForwardingHeader;

  /** Throws a RangeError for an entry that is neither an address nor a block. */
  constructor({ trustedProxies, header }: ClientAddressOptions) {
    this.#proxies = new AddressList(trustedProxies);
    this.#header = header;
  }

  /**
   * From the socket back through the chain, as long as each hop is a trusted proxy: the first address that is none is the client. What a hop
   * says is believed up to the first element that names no address.
   */
  of(peer: string, headers: ReadonlyMap<string, string>): string {
    let client = canonicalAddress(peer) ?? peer;
    if (this.#proxies.entries.length === 0 || !this.#proxies.has(client)) return client;
    for (const address of [...this.#chain(headers)].reverse()) {
      if (address === undefined) return client;
      client = address;
      if (!this.#proxies.has(address)) return client;
    }
    return client;
  }

  #chain(headers: ReadonlyMap<string, string>): ForwardedChain {
    const value = headers.get(this.#header) ?? '';
    return this.#header === 'forwarded' ? readForwarded(value) : readForwardedFor(value);
  }
}

/**
 * It can only tighten: a marked request is treated as one of the public listener, and nothing makes one of that listener internal. A proxy may add its
 * own line to one that the client sent, so one mark among several values is enough.
 */
export function isMarkedPublic(headers: ReadonlyMap<string, string>): boolean {
  const value = headers.get('x-svc-public-edge');
  if (value === undefined || value === '1') return value === '1';
  return value.split(',').some((one) => one.trim() === '1');
}
