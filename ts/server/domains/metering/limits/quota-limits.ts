/** The limits that a tenant, a user or a key can have; undefined: none. */
export interface QuotaLimits {
  requestsPerMinute?: number | undefined;
  tokensPerMinute?: number | undefined;
  requestsPerMonth?: number | undefined;
  tokensPerMonth?: number | undefined;
  /** Millionths. */
  costPerMonth?: number | undefined;
}

export type Measure = 'requests' | 'tokens' | 'cost';

/** What is counted by the minute too. */
export type WindowMeasure = Exclude<Measure, 'cost'>;

export type Period = 'minute' | 'month';

/** As the API names it. */
export type QuotaName = `${WindowMeasure}_per_${Period}` | 'cost_micro_per_month';

export function limitOf(limits: QuotaLimits, measure: Measure, period: Period): number | undefined {
  if (measure === 'cost') return period === 'month' ? limits.costPerMonth : undefined;
  if (period === 'minute') return measure === 'requests' ? limits.requestsPerMinute : limits.tokensPerMinute;
  return measure === 'requests' ? limits.requestsPerMonth : limits.tokensPerMonth;
}

export function hasMonthLimit({ requestsPerMonth, tokensPerMonth, costPerMonth }: QuotaLimits): boolean {
  return requestsPerMonth !== undefined || tokensPerMonth !== undefined || costPerMonth !== undefined;
}

export function hasMinuteLimit({ requestsPerMinute, tokensPerMinute }: QuotaLimits): boolean {
  return requestsPerMinute !== undefined || tokensPerMinute !== undefined;
}
