/** The credential that a request brings. */
import type { CredentialSource } from '../../../platform/http/authenticator.ts';
import { SESSION_COOKIES } from './session-cookie.ts';

export interface PresentedCredential {
  text: string;
  from: 'api-key' | 'bearer' | 'cookie';
}

const BEARER = 'bearer ';

/**
 * One credential decides, whatever else a request brings: X-API-Key, then Authorization, then the cookie. What a program put in a header is what it
 * means; a browser adds the cookie by itself. Other schemes of Authorization are not for this service.
 */
export function presentedCredential(headers: CredentialSource['headers']): PresentedCredential | undefined {
  const key = headers.get('x-api-key');
  if (key !== undefined) return { text: key, from: 'api-key' };
  const authorization = headers.get('authorization');
  if (authorization !== undefined && authorization.slice(0, BEARER.length).toLowerCase() === BEARER) {
    return { text: authorization.slice(BEARER.length).trim(), from: 'bearer' };
  }
  const cookies = headers.get('cookie');
  const session = cookies === undefined ? undefined : sessionOf(cookies);
  return session === undefined ? undefined : { text: session, from: 'cookie' };
}

/** The cookie that only this very host can set is read before the one that a neighbour on the host name could have set. */
function sessionOf(cookies: string): string | undefined {
  const pairs = cookies.split(';').map((pair) => pair.trim());
  for (const name of SESSION_COOKIES) {
    const pair = pairs.find((each) => each.startsWith(`${name}=`));
    if (pair !== undefined) return pair.slice(name.length + 1);
  }
  return undefined;
}
