/** Cross-origin headers of answers to pages that may use the API; cookies are never allowed across origins. */

const EXPOSED = 'x-request-id, retry-after, x-svc-model-substituted, x-svc-edge-tools';
const ALWAYS_ALLOWED = 'authorization, content-type, x-api-key, x-request-id, x-svc-edge-tools';

export function addCorsHeaders(origin: string, headers: string[]): void {
  headers.push('access-control-allow-origin', origin, 'vary', 'Origin', 'access-control-expose-headers', EXPOSED);
}

/** Headers of the answer to OPTIONS; without methods, those that any path may serve. */
export function preflightHeaders(methods: readonly string[], requested: string | undefined): Record<string, string> {
  const allow = methods.length === 0 ? 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT' : methods.join(', ');
  const names = requested !== undefined && /^[\w\s,-]{1,1000}$/.test(requested) ? requested : ALWAYS_ALLOWED;
  return {
    allow,
    'access-control-allow-methods': allow,
    'access-control-allow-headers': names,
    'access-control-max-age': '86400',
  };
}
