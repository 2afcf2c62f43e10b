/** Which lines of the audit log are asked for. */
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { IdentityTables } from '../tables.ts';
import type { AuditOutcome } from './audit-entry.ts';

export interface AuditFilter {
  /** Stands somewhere in who, what, to what, from where or the details, whatever the case of ASCII letters. */
  text?: string | undefined;
  outcome?: AuditOutcome | undefined;
  /** Unix milliseconds: lines of [from, to). */
  from?: number | undefined;
  to?: number | undefined;
}

const SEARCHED = ['actor', 'action', 'target', 'detail', 'remote_address', 'request_id', 'tenant'] as const;

export function matching(
  row: ExpressionBuilder<IdentityTables, 'identity_audit'>,
  { text, outcome, from, to }: AuditFilter,
): Expression<SqlBool> {
  const conditions: Expression<SqlBool>[] = [];
  if (outcome !== undefined) conditions.push(row('outcome', '=', outcome));
  if (from !== undefined) conditions.push(row('at', '>=', from));
  if (to !== undefined) conditions.push(row('at', '<', to));
  if (text !== undefined) {
    const pattern = likePattern(text);
    conditions.push(row.or(SEARCHED.map((column) => sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern} escape '!'`)));
  }
  return row.and(conditions);
}

/** Both databases change the case of ASCII letters alone. */
function likePattern(text: string): string {
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return `%${lower.replace(/[!%_]/g, '!$&')}%`;
}
