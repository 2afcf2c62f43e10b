/** The rows that the security module keeps. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isSystemScope, type StorageAccess, type StorageScope } from '../../platform/storage/index.ts';
import type { EnforcementMode } from './enforcement-mode.ts';

/** The mode of a node, or of a tenant on every node. */
export interface EnforcementRow {
  kind: 'node' | 'tenant';
  id: string;
  mode: EnforcementMode;
}

/** A tool call that the caller's role did not reach. */
export interface DecisionRow {
  tenant: string;
  seq: number;
  /** Milliseconds since 1970. */
  at: number;
  node: string;
  mode: EnforcementMode;
  tool: string;
  actor: string;
  role: string;
  needed_role: string;
}

export interface SecurityTables {
  security_enforcement: EnforcementRow;
  /** `seq` is counted by the database. */
  security_decisions: DecisionRow;
}

export type SecurityStorage = StorageAccess<SecurityTables>;

/** The condition that a row belongs to the scope. On SQLite it is the only wall between tenants. */
export function within(scope: StorageScope): RawBuilder<SqlBool> {
  return isSystemScope(scope) ? sql<SqlBool>`1 = 1` : sql<SqlBool>`tenant = ${scope.tenant}`;
}
