/** The cookie in which a browser keeps its session, and how all cookies of the module are written and read. */
import type { RequestContext } from '../../../platform/http/route.ts';

const SESSION = 'session';
/** Browsers take a name with this prefix over TLS alone, and from this very host alone. */
const SECURE_PREFIX = '__Host-';

/** In the order in which they are believed. */
export const SESSION_COOKIES: readonly string[] = [`${SECURE_PREFIX}svc_${SESSION}`, `svc_${SESSION}`];

export type CookieRequest = Pick<RequestContext, 'isEncrypted'>;

export function sessionCookie(request: CookieRequest, token: string, maxAgeSeconds: number): string {
  return namedCookie(request, SESSION, token, maxAgeSeconds);
}

/** Makes the browser forget the session. */
export function endedSessionCookie(request: CookieRequest): string {
  return namedCookie(request, SESSION, '', 0);
}

/** Lax: what comes from another site by navigation has it, as a provider's way back after a sign-in does. */
export function namedCookie(request: CookieRequest, name: string, value: string, maxAgeSeconds: number): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`;
  return `${fullName(request, name)}=${value}; ${request.isEncrypted ? 'Secure; ' : ''}${attributes}`;
}

export function readCookie(request: CookieRequest & Pick<RequestContext, 'headers'>, name: string): string | undefined {
  const start = `${fullName(request, name)}=`;
  const pairs = (request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length);
}

function fullName({ isEncrypted }: CookieRequest, name: string): string {
  return `${isEncrypted ? SECURE_PREFIX : ''}svc_${name}`;
}
