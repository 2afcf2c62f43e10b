/** Cross-origin headers of answers to pages that may use the API; cookies are never allowed across origins. */

/** Headers of an API, beside those of every route. Lowercase. */
export interface CorsHeaderNames {
  /** Headers of requests, which pages of other origins may send. */
  readonly accepted: readonly string[];
  /** Headers of answers, which they may read. */
  readonly exposed: readonly string[];
}

const OF_EVERY_ROUTE: CorsHeaderNames = {
  accepted: ['authorization', 'content-type', 'x-api-key', 'x-request-id'],
  exposed: ['x-request-id', 'retry-after'],
};
const ALL_METHODS = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT';

export class Cors {
  readonly #accepted: string;
  readonly #exposed: string;

  constructor(ofModules: readonly CorsHeaderNames[]) {
    const all = [OF_EVERY_ROUTE, ...ofModules];
    this.#accepted = [...new Set(all.flatMap(({ accepted }) => accepted))].join(', ');
    this.#exposed = [...new Set(all.flatMap(({ exposed }) => exposed))].join(', ');
  }

  /** `headers` is name, value, name, value ... */
  addTo(headers: string[], origin: string): void {
    headers.push('access-control-allow-origin', origin, 'vary', 'Origin', 'access-control-expose-headers', this.#exposed);
  }

  /** Headers of the answer to OPTIONS; without methods, those that any path may serve. */
  preflight(methods: readonly string[], requested: string | undefined): Record<string, string> {
    const allow = methods.length === 0 ? ALL_METHODS : methods.join(', ');
    const names = requested !== undefined && /^[\w\s,-]{1,1000}$/.test(requested) ? requested : this.#accepted;
    return {
      allow,
      'access-control-allow-methods': allow,
      'access-control-allow-headers': names,
      'access-control-max-age': '86400',
    };
  }
}
