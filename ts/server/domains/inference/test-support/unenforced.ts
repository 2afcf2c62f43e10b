/** Role enforcement that lets every call pass, for tests of what else happens. */
import type { SecurityApi } from '../../security/index.ts';

export const unenforced: SecurityApi = {
  checkToolCall: () => ({ isAllowed: true, isWithinRole: true, neededRole: 'viewer', mode: 'stub_allow' }),
  requireToolCall: () => {},
  leastRoleOf: () => 'viewer',
};
