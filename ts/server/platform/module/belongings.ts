/** What a part of the node keeps of tenants and accounts, for when one of them is deleted. */
import type { SystemScope, TenantScope } from '../storage/index.ts';

/**
 * Each function is called until it succeeds: again after a crash, on any node, also while the module is switched off. What takes longer than a
 * delivery may is called anew meanwhile, so it goes on from where it was and tolerates itself.
 */
export interface Belongings {
  /** Whether the tenant has something there that somebody made and would miss. Absent: only counts and rules are kept. */
  holdsAny?(scope: TenantScope): Promise<boolean>;
  eraseTenant(scope: TenantScope): Promise<void>;
  /** What nobody but the account could reach. Ids of accounts are never used again, in no tenant. */
  eraseAccount?(everyone: SystemScope, accountId: string): Promise<void>;
}

export interface Owner {
  /** The name of the module, or of the part of the platform. */
  readonly name: string;
  readonly belongings: Belongings;
}
