/** A request that a quota does not admit: which one, how much of it is used, and when there is some again. */
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import { meteringError } from '../errors.ts';
import { nextMonthStart } from './calendar-month.ts';
import type { LimitedSubject } from './limited-subject.ts';
import type { Measure, Period, QuotaName } from './quota-limits.ts';

/** When running requests hold what is missing, nobody knows when they end. */
const UNKNOWN_MS = 5_000;

export interface Shortage {
  subject: LimitedSubject;
  measure: Measure;
  period: Period;
  limit: number;
  used: number;
  /** How much too little there is. */
  missing: number;
  retryAfterMs: number;
}

export function retryAfterMs({ use }: LimitedSubject, measure: Measure, period: Period, missing: number, now: number): number {
  if (period === 'month') return nextMonthStart(now) - now;
  return use.windows[measure].untilFree(missing, now) ?? UNKNOWN_MS;
}

export function quotaRefusal({ subject, measure, period, limit, used, retryAfterMs }: Shortage, now: number): DomainError {
  const quota: QuotaName = `${measure}_per_${period}`;
  const resets_at = new Date(now + retryAfterMs).toISOString();
  const held = measure === 'tokens' && subject.use.heldTokens > 0 ? `, and running requests hold ${subject.use.heldTokens}` : '';
  const owner = subject.kind === 'tenant' ? 'tenant' : `${subject.kind} ${subject.id}`;
  const sentence = `The ${limit} ${measure} a ${period} of the ${owner} are used up: ${used} are used${held}. Some are free again at ${resets_at}.`;
  const extra = { exceeded: { quota, of: subject.kind, id: subject.id, limit, used, resets_at } };
  return meteringError(period === 'minute' ? 'rate_limit_exceeded' : 'quota_exceeded', sentence, { retryAfterMs, extra });
}
