/** The cookie in which a browser keeps its session. */
import type { RequestContext } from '../../../platform/http/route.ts';

const SECURE_NAME = '__Host-svc_session';
const PLAIN_NAME = 'svc_session';

/** In the order in which they are believed. */
export const SESSION_COOKIES: readonly string[] = [SECURE_NAME, PLAIN_NAME];

export type CookieRequest = Pick<RequestContext, 'isEncrypted'>;

export function sessionCookie(request: CookieRequest, token: string, maxAgeSeconds: number): string {
  return cookie(request, token, maxAgeSeconds);
}

/** Makes the browser forget the session. */
export function endedSessionCookie(request: CookieRequest): string {
  return cookie(request, '', 0);
}

function cookie(request: CookieRequest, value: string, maxAgeSeconds: number): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`;
  return request.isEncrypted ? `${SECURE_NAME}=${value}; Secure; ${attributes}` : `${PLAIN_NAME}=${value}; ${attributes}`;
}
