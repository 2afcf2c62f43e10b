/** What an administrator has set for one tenant, user or key. */
import type { QuotaLimits } from '../limits/quota-limits.ts';
import type { QuotaRow, SubjectKind } from '../tables.ts';

export interface Quota {
  tenant: string;
  kind: SubjectKind;
  /** Id of the user or key; of a tenant its own. */
  subject: string;
  limits: QuotaLimits;
}

export function quotaOf({ tenant, kind, subject, ...row }: QuotaRow): Quota {
  const limits: QuotaLimits = {
    requestsPerMinute: row.requests_per_minute ?? undefined,
    tokensPerMinute: row.tokens_per_minute ?? undefined,
    requestsPerMonth: row.requests_per_month ?? undefined,
    tokensPerMonth: row.tokens_per_month ?? undefined,
    costPerMonth: row.cost_micro_per_month ?? undefined,
  };
  return { tenant, kind, subject, limits };
}
