/** The scope in which the module works for every tenant. */
import { type SystemScope, systemScope } from '../../platform/storage/index.ts';

/** Approvals that are over are removed whosever they are. */
export function everyTenant(): SystemScope {
  return systemScope();
}
