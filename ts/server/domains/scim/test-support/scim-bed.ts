/** For tests: SCIM over the identity module, its database and real sockets. */
import type { Test } from 'tap';
import { type BedOptions, type IdentityBed, openIdentity } from '../../identity/test-support/identity-bed.ts';
import { scim } from '../index.ts';

export function openScim(t: Test, options: BedOptions = {}): Promise<IdentityBed> {
  return openIdentity(t, { ...options, above: [scim] });
}
