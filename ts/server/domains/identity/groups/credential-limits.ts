/** What a credential itself is limited to, as capability tokens are. */
import type { LimitSource } from './use-limit.ts';

export const credentialLimits: LimitSource = {
  limitOf: ({ models, namespaces }) => ({ models, namespaces }),
};
