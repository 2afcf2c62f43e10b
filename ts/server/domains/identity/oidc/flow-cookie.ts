/** The cookie that holds a sealed sign-in flow. */
import type { RequestContext } from '../../../platform/http/route.ts';
import { type CookieRequest, namedCookie, readCookie } from '../credentials/session-cookie.ts';
import { FLOW_VALID_MS } from './sign-in-flow.ts';

const NAME = 'sign_in';

export function flowCookie(request: CookieRequest, sealed: string): string {
  return namedCookie(request, NAME, sealed, FLOW_VALID_MS / 1000);
}

export function endedFlowCookie(request: CookieRequest): string {
  return namedCookie(request, NAME, '', 0);
}

export function readFlowCookie(request: CookieRequest & Pick<RequestContext, 'headers'>): string | undefined {
  return readCookie(request, NAME);
}
