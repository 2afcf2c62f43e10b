/** One of the subjects that a request counts for, with the limits that it has and what it has used of them. */
import type { SubjectKind } from '../tables.ts';
import type { QuotaLimits } from './quota-limits.ts';
import type { SubjectUse } from './subject-use.ts';

export interface LimitedSubject {
  tenant: string;
  kind: SubjectKind;
  id: string;
  limits: QuotaLimits;
  use: SubjectUse;
}
