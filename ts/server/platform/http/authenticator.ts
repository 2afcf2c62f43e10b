/** The port that resolves credentials to a principal. */
import type { ListenerName } from './listen/listener-name.ts';
import { ANONYMOUS, type Principal } from './principal.ts';

/** The parts of a request that credentials are read from. */
export interface CredentialSource {
  headers: ReadonlyMap<string, string>;
  path: string;
  remoteAddress: string;
  listener: ListenerName;
}

/** `off` while the node has no account and belongs to no cluster. */
export type AuthenticationState = 'off' | 'enforce';

export interface Authenticator {
  state(): AuthenticationState;
  /**
   * Returns the anonymous caller where there is no credential. Throws HttpError 401 for refused credentials, 503 when they cannot be checked. It is
   * also asked while the state is `off`, so that a one-time code can already name an administrator.
   */
  authenticate(source: CredentialSource): Principal | Promise<Principal>;
}

/** A node without accounts: every caller is the same anonymous one. */
export const NO_ACCOUNTS: Authenticator = { state: () => 'off', authenticate: () => ANONYMOUS };
