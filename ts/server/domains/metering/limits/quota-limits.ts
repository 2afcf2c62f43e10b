/** The limits that a tenant, a user or a key can have; undefined: none. */
export interface QuotaLimits {
  requestsPerMinute?: number | undefined;
  tokensPerMinute?: number | undefined;
  requestsPerMonth?: number | undefined;
  tokensPerMonth?: number | undefined;
}

export type Measure = 'requests' | 'tokens';

export type Period = 'minute' | 'month';

/** As the API names it. */
export type QuotaName = `${Measure}_per_${Period}`;

export function limitOf(limits: QuotaLimits, measure: Measure, period: Period): number | undefined {
  if (period === 'minute') return measure === 'requests' ? limits.requestsPerMinute : limits.tokensPerMinute;
  return measure === 'requests' ? limits.requestsPerMonth : limits.tokensPerMonth;
}

export function hasMonthLimit({ requestsPerMonth, tokensPerMonth }: QuotaLimits): boolean {
  return requestsPerMonth !== undefined || tokensPerMonth !== undefined;
}

export function hasMinuteLimit({ requestsPerMinute, tokensPerMinute }: QuotaLimits): boolean {
  return requestsPerMinute !== undefined || tokensPerMinute !== undefined;
}
