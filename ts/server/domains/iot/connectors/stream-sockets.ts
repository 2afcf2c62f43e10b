/** Connections to devices that speak no HTTP: only to hosts that the operator named, or by TLS to public ones. */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { AddressPolicy } from '../../../platform/network/address-policy.ts';
import { type AllowedHost, isAllowedBy } from '../../../platform/network/allowed-host.ts';
import { iotError } from '../errors.ts';

interface StreamAddress {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

export class StreamSockets {
  readonly #allowed: readonly AllowedHost[];
  readonly #policy: AddressPolicy;

  constructor(allowed: readonly AllowedHost[]) {
    this.#allowed = allowed;
    this.#policy = new AddressPolicy({ trusted: [], allowed, refusal: (sentence) => iotError('unsafe_address', `${sentence}.`) });
  }

  /** Throws `unsafe_address`. */
  check({ host, port, isSecure }: StreamAddress): void {
    const url = urlOf(host, port);
    if (!isSecure && !this.#allowed.some((allowed) => isAllowedBy(allowed, url)))
      throw iotError('unsafe_address', `${host}:${port} is reached without encryption, and is not named in iot.allowed_hosts.`);
    this.#policy.check(url);
  }

  /** A socket that connects; its errors are the caller's. Throws `unsafe_address`. */
  connect(address: StreamAddress): Socket {
    this.check(address);
    const { host, port, isSecure } = address;
    const lookup = this.#policy.lookupFor(urlOf(host, port));
    const socket = isSecure ? connectSecure({ host, port, lookup, servername: host }) : connectPlain({ host, port, lookup });
    return socket.setNoDelay(true);
  }
}

/** Operators name hosts as those of https; which protocol is spoken there is another question. */
function urlOf(host: string, port: number): URL {
  return new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`);
}
