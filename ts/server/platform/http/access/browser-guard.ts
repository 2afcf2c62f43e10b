/**
 * Keeps web pages from using a server that asks for no credential, and from using a browser's cookies on one that does. Programs other
 * than browsers send no Origin and are not concerned, except for the Host header.
 */
import type { AuthenticationState } from '../authenticator.ts';
import { HttpError } from '../errors.ts';
import type { ListenerName } from '../listen/listener-name.ts';
import { HostCheck } from './host-check.ts';
import { OriginCheck } from './origin-check.ts';

export interface BrowserGuardOptions {
  /** Beside loopback and the machine's own names; see HostCheck. */
  allowedHosts: readonly string[];
  /** Beside loopback and the server's own pages; see OriginCheck. */
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
