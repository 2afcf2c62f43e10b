/** What a credential itself is limited to, as capability tokens are. */
import { type LimitSource, UNLIMITED } from './use-limit.ts';

export const credentialLimits: LimitSource = {
  limitOf: ({ limits = UNLIMITED }) => limits,
};
