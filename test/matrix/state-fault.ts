/** What is wrong with how an answer takes the state of a credential: a good one is accepted, and a refused one is 401. */
import type { Answer } from './client.ts';
import type { Kind, State } from './credentials.ts';

interface Asked {
  readonly kind: Kind;
  readonly state: State;
  /** Whether the route answers 401 to a request without a credential. */
  readonly needsCredential: boolean;
  /** Below /api/v1/auth/, where 401 has other reasons too. */
  readonly isSignIn: boolean;
}

/** A session that ended is no credential in a cookie, as browsers keep sending it: it counts as none. */
export function stateFault(
  { kind, state, needsCredential, isSignIn }: Asked,
  { status, text }: Pick<Answer, 'status' | 'text'>,
): string | undefined {
  if (state === 'good') return status === 401 && !isSignIn ? `refuses a good credential: ${text}` : undefined;
  if (status === 401 || (kind === 'cookie' && (!needsCredential || isSignIn))) return undefined;
  return `answers ${status} to a ${kind} that was ${state}`;
}
