/** For whom something is metered. */
import type { Principal } from '../../platform/http/principal.ts';

export interface MeteredCaller {
  tenant: string;
  /** Id of the account; undefined: none. */
  user: string | undefined;
  /** Id of the API key; undefined: another kind of credential, or none. */
  key: string | undefined;
}

export function meteredCaller({ tenant, subject, kind, keyId }: Principal): MeteredCaller {
  return { tenant, user: subject, key: kind === 'key' ? keyId : undefined };
}
