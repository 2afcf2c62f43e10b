/** For tests: a browser that keeps cookies for each origin and follows redirects one by one. */
import { REDIRECT_URL } from './local-provider.ts';

export interface Visit {
  url: URL;
  status: number;
  headers: Headers;
  text: string;
}

export class Browser {
  readonly #server: string;
  readonly #cookies = new Map<string, Map<string, string>>();

  constructor(server: string) {
    this.#server = server;
  }

  /** One request; a path is one of the server. */
  async open(address: string | URL, init: RequestInit = {}): Promise<Visit> {
    const url = this.#reachable(new URL(address, this.#server));
    const jar = this.#cookies.get(url.origin) ?? new Map<string, string>();
    this.#cookies.set(url.origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string> | undefined), ...(cookie !== '' && { cookie }) };
    const response = await fetch(url, { ...init, redirect: 'manual', headers });
    for (const line of response.headers.getSetCookie()) keep(jar, line);
    return { url, status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Follows redirects until the server is reached with an address that `isEnd` knows, which is not opened. */
  async follow(visit: Visit, isEnd: (url: URL) => boolean): Promise<URL> {
    let last = visit;
    for (let hops = 0; hops < 15; hops += 1) {
      const location = last.headers.get('location');
      if (location === null) throw new Error(`${last.url} answers ${last.status}: ${last.text.slice(0, 300)}`);
      const next = this.#reachable(new URL(location, last.url));
      if (isEnd(next)) return next;
      last = await this.open(next);
    }
    throw new Error('too many redirects');
  }

  cookie(name: string): string | undefined {
    return this.#cookies.get(new URL(this.#server).origin)?.get(name);
  }

  setCookie(name: string, value: string): void {
    const jar = this.#cookies.get(new URL(this.#server).origin) ?? new Map<string, string>();
    this.#cookies.set(new URL(this.#server).origin, jar.set(name, value));
  }

  #reachable(url: URL): URL {
    return url.origin === new URL(REDIRECT_URL).origin ? new URL(url.pathname + url.search, this.#server) : url;
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';');
  const at = pair.indexOf('=');
  const isOver = attributes.some((attribute) => /^\s*(max-age=0|expires=Thu, 01 Jan 1970)/i.test(attribute));
  if (isOver) jar.delete(pair.slice(0, at));
  else jar.set(pair.slice(0, at), pair.slice(at + 1));
}
