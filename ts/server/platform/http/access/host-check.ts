/**
 * Which Host headers are answered while no credential is asked for. A web page can make its own name resolve to this machine (DNS
 * rebinding) and is then of the same origin as the server; the Host header still has the page's name.
 */
import { hostname, networkInterfaces } from 'node:os';
import { isLoopbackName } from '../../network/public-address.ts';
import { hostName } from './host-name.ts';

/** Names and addresses of this machine. */
export type FindMachineNames = () => Iterable<string>;

/** Addresses come and go with networks; they are read again after this long when a name is not known. */
const REFRESH_MS = 5_000;
/** Header values that were found right; more are not remembered, since a client can vary the port. */
const MAX_REMEMBERED = 256;

export class HostCheck {
  readonly #allowsAny: boolean;
  readonly #names: ReadonlySet<string>;
  /** `.example.com` for the entry `*.example.com`. */
  readonly #suffixes: readonly string[];
  readonly #findMachineNames: FindMachineNames;
  readonly #remembered = new Set<string>();
  #machine: ReadonlySet<string> = new Set();
  #machineReadMs = Number.NEGATIVE_INFINITY;

  /** Entries are names or addresses, `*.example.com` for all names below it, or `*`; a port in an entry is ignored. */
  constructor(allowed: readonly string[], findMachineNames: FindMachineNames = namesOfThisMachine) {
    this.#allowsAny = allowed.includes('*');
    this.#names = names(allowed.filter((entry) => !entry.startsWith('*')));
    this.#suffixes = [...names(allowed.filter((entry) => entry.startsWith('*.')).map((entry) => entry.slice(2)))].map(
      (name) => `.${name}`,
    );
    this.#findMachineNames = findMachineNames;
  }

  /** `host` is the header's value; port and case do not matter. A request without the header is refused. */
  allows(host: string | undefined): boolean {
    if (this.#allowsAny || (host !== undefined && this.#remembered.has(host))) return true;
    const name = host === undefined ? undefined : hostName(host);
    if (host === undefined || name === undefined || !this.#isKnown(name)) return false;
    if (this.#remembered.size < MAX_REMEMBERED) this.#remembered.add(host);
    return true;
  }

  #isKnown(name: string): boolean {
    if (isLoopbackName(name) || this.#names.has(name)) return true;
    return this.#suffixes.some((suffix) => name.endsWith(suffix)) || this.#isOfThisMachine(name);
  }

  #isOfThisMachine(name: string): boolean {
    if (this.#machine.has(name)) return true;
    if (performance.now() - this.#machineReadMs < REFRESH_MS) return false;
    this.#machineReadMs = performance.now();
    this.#machine = names([...this.#findMachineNames()]);
    return this.#machine.has(name);
  }
}

function names(entries: readonly string[]): Set<string> {
  return new Set(entries.map(hostName).filter((name) => name !== undefined));
}

/** The host name, its first label alone and in multicast DNS (RFC 6762), and the addresses of all interfaces. */
function namesOfThisMachine(): string[] {
  const own = hostname();
  const label = own.split('.')[0] ?? own;
  return [own, label, `${label}.local`, ...ownAddresses()];
}

/** A service that may open no socket of the kernel's routing is not told them; a name that is not known is then refused, and nothing fails. */
function ownAddresses(): string[] {
  try {
    return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  } catch {
    return [];
  }
}
