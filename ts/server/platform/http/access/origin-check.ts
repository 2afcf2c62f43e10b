/** Decides which pages, by their Origin header, may use the API from a browser. */
import { bareHost, isLoopbackName } from '../../network/public-address.ts';

/** Header values that were found right; more are not remembered. */
const MAX_REMEMBERED = 256;

export class OriginCheck {
  readonly #listed: ReadonlySet<string>;
  readonly #remembered = new Set<string>();

  /** Entries are origins, for example `https://app.example`, or `*` for any. */
  constructor(allowed: readonly string[]) {
    this.#listed = new Set(allowed.map((entry) => (entry === '*' ? entry : (canonicalOrigin(entry) ?? entry))));
  }

  get hasList(): boolean {
    return this.#listed.size > 0;
  }

  /** The setting lists the origin, or the page comes from the host that the request is sent to. */
  isOwnOrListed(origin: string, host: string | undefined): boolean {
    return this.#isListed(origin) || isSameOrigin(origin, host);
  }

  /** A page that a program on the reader's own machine serves. */
  isLoopback(origin: string): boolean {
    if (this.#remembered.has(origin)) return true;
    const url = parse(origin);
    if (url === undefined || !isLoopbackName(bareHost(url.hostname))) return false;
    if (this.#remembered.size < MAX_REMEMBERED) this.#remembered.add(origin);
    return true;
  }

  #isListed(origin: string): boolean {
    return this.#listed.has('*') || this.#listed.has(origin) || this.#listed.has(canonicalOrigin(origin) ?? origin);
  }
}

/** The scheme is not compared: a proxy in front may have ended TLS. */
function isSameOrigin(origin: string, host: string | undefined): boolean {
  const url = parse(origin);
  if (url === undefined || host === undefined) return false;
  return parse(`${url.protocol}//${host}`)?.host === url.host;
}

function canonicalOrigin(text: string): string | undefined {
  return parse(text)?.origin;
}

/** Undefined for `null`, for what is no URL, and for schemes other than HTTP, whose origin is opaque. */
function parse(origin: string): URL | undefined {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
}
