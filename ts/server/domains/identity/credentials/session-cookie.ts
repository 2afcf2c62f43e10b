/** The cookie in which a browser keeps its session. */
import type { RequestContext } from '../../../platform/http/route.ts';

const SECURE_NAME = '__Host-svc_session';
const PLAIN_NAME = 'svc_session';

/** In the order in which they are believed. */
export const SESSION_COOKIES: readonly string[] = [SECURE_NAME, PLAIN_NAME];

export type CookieRequest = Pick<RequestContext, 'listener' | 'headers'>;

export function sessionCookie(request: CookieRequest, token: string, maxAgeSeconds: number): string {
  return cookie(request, token, maxAgeSeconds);
}

/** Makes the browser forget the session. */
export function endedSessionCookie(request: CookieRequest): string {
  return cookie(request, '', 0);
}

function cookie(request: CookieRequest, value: string, maxAgeSeconds: number): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`;
  return isEncrypted(request) ? `${SECURE_NAME}=${value}; Secure; ${attributes}` : `${PLAIN_NAME}=${value}; ${attributes}`;
}

/**
 * The public edge is TLS, its own or a proxy's. A client that lies about X-Forwarded-Proto harms itself only: its browser then
 * keeps the cookie from plain HTTP.
 */
function isEncrypted({ listener, headers }: CookieRequest): boolean {
  return listener === 'public' || headers.get('x-forwarded-proto') === 'https';
}
