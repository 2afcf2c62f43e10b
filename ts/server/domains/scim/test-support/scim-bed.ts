/** For tests: SCIM over the identity module, its database and real sockets. */
import type { Test } from 'tap';
import type { ModuleContext } from '../../../platform/module/module-context.ts';
import { type BedOptions, type IdentityBed, openIdentity } from '../../identity/test-support/identity-bed.ts';
import { createScim } from '../scim-module.ts';

export function openScim(t: Test, options: BedOptions = {}): Promise<IdentityBed> {
  const use = (api: unknown) => (() => api) as ModuleContext<Record<never, never>>['use'];
  return openIdentity(t, { ...options, above: (api) => createScim({ use: use(api) }) });
}
