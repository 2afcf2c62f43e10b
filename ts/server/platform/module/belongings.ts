/** Each part of the node says what it keeps of tenants and accounts, for when one of them is deleted. */
import type { SystemScope, TenantScope } from '../storage/index.ts';

/**
 * Each function is called until it succeeds: again after a crash, on any node, also while the module is switched off. What takes longer than a
 * delivery may is called anew meanwhile, so it goes on from where it was and tolerates itself.
 */
export interface Belongings {
  /** Whether the tenant has something there that somebody made and would miss. Absent: only counts and rules are kept. */
  holdsAny?(scope: TenantScope): Promise<boolean>;
  eraseTenant(scope: TenantScope): Promise<void>;
  /** It erases what nobody but the account could reach. Ids of accounts are never used again, in no tenant. */
  eraseAccount?(everyone: SystemScope, accountId: string): Promise<void>;
  /**
   * They have something in data_dir of this node alone. Each node asks from time to time and has what is of deleted ones erased, since a deletion is told
   * to one node alone. Absent: all nodes of the database share what is kept.
   */
  heldHere?(): Promise<Held>;
}

/** Some may be deleted, or have never been. */
export interface Held {
  readonly tenants: readonly string[];
  readonly accounts: readonly string[];
}

export interface Owner {
  /** The name of the module, or of the part of the platform. */
  readonly name: string;
  readonly belongings: Belongings;
}
