/** The cookie that holds a sealed sign-in flow. Lax, since the provider sends the browser back with a navigation from its own site. */
import type { RequestContext } from '../../../platform/http/route.ts';
import type { CookieRequest } from '../credentials/session-cookie.ts';
import { FLOW_VALID_MS } from './sign-in-flow.ts';

const SECURE_NAME = '__Host-svc_sign_in';
const PLAIN_NAME = 'svc_sign_in';

export function flowCookie(request: CookieRequest, sealed: string): string {
  return cookie(request, sealed, FLOW_VALID_MS / 1000);
}

export function endedFlowCookie(request: CookieRequest): string {
  return cookie(request, '', 0);
}

export function readFlowCookie(request: CookieRequest & Pick<RequestContext, 'headers'>): string | undefined {
  const name = request.isEncrypted ? SECURE_NAME : PLAIN_NAME;
  const pairs = (request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

function cookie(request: CookieRequest, value: string, maxAgeSeconds: number): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`;
  return request.isEncrypted ? `${SECURE_NAME}=${value}; Secure; ${attributes}` : `${PLAIN_NAME}=${value}; ${attributes}`;
}
