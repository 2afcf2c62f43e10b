/**
 * Keeps web pages from using a server that asks for no credential, and from using a browser's cookies on one that does. Programs other
 * than browsers send no Origin and are not concerned, except for the Host header.
 */

import { isIPv6 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { bareHost, isLoopbackName } from '../../network/public-address.ts';
import type { AuthenticationState } from '../authenticator.ts';
import { HttpError } from '../errors.ts';
import type { ListenerName } from '../listen/listener-name.ts';
import { OriginCheck } from './origin-check.ts';

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

export interface BrowserGuardOptions {
  /** The hosts that are allowed beside loopback and the machine's own names; see HostCheck. */
  allowedHosts: readonly string[];
  /** The origins that are allowed beside loopback and the server's own pages; see OriginCheck. */
  allowedOrigins: readonly string[];
}

export interface GuardedRequest {
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
}

export interface GuardResult {
  /** The origin that the answer names in its CORS headers; undefined: no such headers. */
  corsOrigin: string | undefined;
  refusal: HttpError | undefined;
}

const SAFE_METHODS = new Set(['GET', 'HEAD']);
const PASSED: GuardResult = Object.freeze({ corsOrigin: undefined, refusal: undefined });

export class BrowserGuard {
  readonly #hosts: HostCheck;
  readonly #origins: OriginCheck;

  constructor({ allowedHosts, allowedOrigins }: BrowserGuardOptions) {
    this.#hosts = new HostCheck(allowedHosts);
    this.#origins = new OriginCheck(allowedOrigins);
  }

  check(request: GuardedRequest, listener: ListenerName, state: AuthenticationState): GuardResult {
    const { headers } = request;
    const asksNoCredential = state === 'off' && listener === 'internal';
    const host = headers.get('host');
    if (asksNoCredential && !this.#hosts.allows(host)) return { corsOrigin: undefined, refusal: hostRefusal(host) };
    const origin = headers.get('origin');
    if (origin === undefined) return asksNoCredential || headers.has('cookie') ? withoutOrigin(request) : PASSED;
    const isOwn = this.#origins.isOwnOrListed(origin, host);
    const isAllowed = isOwn || (asksNoCredential ? this.#origins.isLoopback(origin) : !this.#origins.hasList);
    const mayUseCookies = isOwn || asksNoCredential || !headers.has('cookie');
    const isRefused = !(isAllowed && mayUseCookies) && !SAFE_METHODS.has(request.method);
    return {
      corsOrigin: isAllowed ? origin : undefined,
      refusal: isRefused ? originRefusal(origin, asksNoCredential) : undefined,
    };
  }
}

/** Browsers add Origin to every request that can change something; the fetch metadata is a second wall. */
function withoutOrigin({ method, headers }: GuardedRequest): GuardResult {
  const site = headers.get('sec-fetch-site');
  // A neighbour on the same registered domain is another site to a server that knows only its own pages.
  if (SAFE_METHODS.has(method) || (site !== 'cross-site' && site !== 'same-site')) return PASSED;
  return { corsOrigin: undefined, refusal: originRefusal('another site', true) };
}

function hostRefusal(host: string | undefined): HttpError {
  const given =
    host === undefined ? 'The request has no Host header' : `The Host ${host.slice(0, 100)} is no name of this machine`;
  const detail =
    `${given}, and while authentication is off only known names are answered, so that no web page can reach the server under its own. ` +
    'Add the name to http.allowed_hosts, or call the server by its address.';
  return new HttpError(421, 'host_not_allowed', detail, { extra: { status: 421 } });
}

function originRefusal(origin: string, asksNoCredential: boolean): HttpError {
  const why = asksNoCredential ? 'while authentication is off, ' : '';
  const detail =
    `A page of ${origin.slice(0, 100)} may not send this request: ${why}only the server’s own pages and those that ` +
    'http.allowed_origins lists may. Add the origin there if you trust it.';
  return new HttpError(403, 'origin_not_allowed', detail);
}

/**
 * Returns the name in a Host header in the form in which two names can be compared: without port and trailing dot, in lowercase, addresses in
 * their canonical form. Undefined: this names no host.
 */
export function hostName(host: string): string | undefined {
  try {
    const { hostname } = new URL(`http://${isIPv6(host) ? `[${host}]` : host}`);
    return bareHost(hostname);
  } catch {
    return undefined;
  }
}
