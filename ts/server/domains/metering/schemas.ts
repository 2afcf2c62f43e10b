/** Shapes of the metering API. Times are ISO 8601 in UTC. */
import Type, { type Static } from 'typebox';
import { named } from '../../platform/schema/named.ts';
import type { LimitedSubject } from './limits/limited-subject.ts';
import type { Quota } from './quotas/quota.ts';
import type { UsageSeries } from './usage/usage-series.ts';
import type { UsageGroup, UsageSum } from './usage/usage-store.ts';

const Time = Type.String({ description: 'ISO 8601, UTC.' });
const SetLimit = Type.Optional(
  Type.Union([Type.Integer({ minimum: 1, maximum: 2 ** 50 }), Type.Null()], { description: 'null: no limit.' }),
);
const Limit = Type.Union([Type.Integer(), Type.Null()]);
const TenantId = Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,127}$' });
const SubjectId = Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}$' });

export const QuotaChange = named(
  'QuotaChange',
  Type.Object(
    {
      tenant: Type.Optional(TenantId),
      user: Type.Optional(SubjectId),
      key: Type.Optional(SubjectId),
      requests_per_minute: SetLimit,
      tokens_per_minute: SetLimit,
      requests_per_month: SetLimit,
      tokens_per_month: SetLimit,
      cost_micro_per_month: SetLimit,
    },
    { additionalProperties: false },
  ),
);

const Amounts = Type.Object({ requests: Type.Integer(), tokens: Type.Integer() });
const MonthAmounts = Type.Object({ ...Amounts.properties, cost_micros: Type.Integer() });

export const QuotaShape = named(
  'Quota',
  Type.Object({
    tenant: Type.String(),
    user: Type.Union([Type.String(), Type.Null()]),
    key: Type.Union([Type.String(), Type.Null()]),
    requests_per_minute: Limit,
    tokens_per_minute: Limit,
    requests_per_month: Limit,
    tokens_per_month: Limit,
    cost_micro_per_month: Limit,
    used: Type.Object({
      minute: Amounts,
      month: MonthAmounts,
      held_tokens: Type.Integer({ description: 'What running requests may still use.' }),
    }),
  }),
);

const Moment = Type.String({ maxLength: 40, description: 'ISO 8601, for example 2026-11-01 or 2026-11-01T08:00:00Z.' });

export const UsageQueryShape = Type.Object({
  by: Type.Optional(Type.Enum(['key', 'user', 'model', 'tenant', 'backend'])),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
  tenant: Type.Optional(TenantId),
  after: Type.Optional(Type.String({ maxLength: 400, description: '`next` of the page before.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
});

const UsageLine = named(
  'UsageLine',
  Type.Object({
    tenant: Type.String(),
    id: Type.String({ description: 'Of the key, user, model or tenant; empty for requests without one.' }),
    requests: Type.Integer(),
    prompt_tokens: Type.Integer(),
    cached_tokens: Type.Integer({ description: 'Of the prompt tokens, those that were not evaluated again.' }),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    seconds: Type.Number({ description: 'From request to end of answer, of all together.' }),
    cost_micros: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'Millionths of `currency`; null where no price is known, or where there are several currencies: ask by backend.',
    }),
    currency: Type.Union([Type.String(), Type.Null()]),
    estimated: Type.Boolean({
      description: 'A provider did not report all of it: the rest is counted by the bytes of the texts.',
    }),
    unpriced_requests: Type.Integer({
      description: 'Requests to providers whose price is not known; they are not in `cost_micros`.',
    }),
    reasoning_tokens: Type.Integer({ description: 'Of the completion tokens.' }),
    cache_read_tokens: Type.Integer({ description: 'The same as cached_tokens.' }),
    cache_write_5m_tokens: Type.Integer({ description: 'Of the prompt tokens.' }),
    cache_write_1h_tokens: Type.Integer(),
    audio_tokens: Type.Integer(),
    image_tokens: Type.Integer(),
    audio_seconds: Type.Number({ description: 'Of recordings that became text.' }),
    characters: Type.Integer({ description: 'Of texts that were read aloud.' }),
    backend: Type.Optional(Type.String({ description: 'Of `by=backend`; empty for models of this node.' })),
  }),
);

export const UsageReport = named(
  'UsageReport',
  Type.Object({
    by: Type.String(),
    from: Time,
    to: Time,
    data: Type.Array(UsageLine),
    next: Type.Optional(Type.String({ description: 'Absent on the last page.' })),
  }),
);

export const UsageSeriesQueryShape = Type.Object({
  by: Type.Optional(Type.Enum(['key', 'user', 'model', 'tenant', 'backend'])),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
  tenant: Type.Optional(TenantId),
  step: Type.Optional(Type.Enum(['hour', 'day'], { description: 'day by default; days begin at `from`.' })),
});

const Columns = {
  tokens: Type.Array(Type.Integer(), { description: 'Of prompt and completion, by step.' }),
  requests: Type.Array(Type.Integer()),
};

export const UsageSeriesReport = named(
  'UsageSeriesReport',
  Type.Object({
    by: Type.String(),
    step: Type.String(),
    from: Time,
    to: Time,
    times: Type.Array(Time, { description: 'When each step begins.' }),
    total: Type.Object(Columns, { description: 'Of all groups, those included that have no line of their own.' }),
    groups: Type.Array(Type.Object({ tenant: Type.String(), id: Type.String(), ...Columns }), {
      description: 'The groups that used the most tokens, at most 6, the largest first.',
    }),
  }),
);

export function usageSeriesBody(
  { by, step, from, to }: { by: UsageGroup; step: string; from: number; to: number },
  { times, ...columns }: UsageSeries,
): Static<typeof UsageSeriesReport> {
  const iso = (ms: number): string => new Date(ms).toISOString();
  return { by, step, from: iso(from), to: iso(to), times: times.map(iso), ...columns };
}

export function quotaBody(
  { tenant, kind, subject, limits }: Quota,
  found: LimitedSubject | undefined,
  now: number,
): Static<typeof QuotaShape> {
  const used = (period: 'minute' | 'month') => ({
    requests: found?.use.used('requests', period, now) ?? 0,
    tokens: found?.use.used('tokens', period, now) ?? 0,
  });
  return {
    tenant,
    user: kind === 'user' ? subject : null,
    key: kind === 'key' ? subject : null,
    requests_per_minute: limits.requestsPerMinute ?? null,
    tokens_per_minute: limits.tokensPerMinute ?? null,
    requests_per_month: limits.requestsPerMonth ?? null,
    tokens_per_month: limits.tokensPerMonth ?? null,
    cost_micro_per_month: limits.costPerMonth ?? null,
    used: {
      minute: used('minute'),
      month: { ...used('month'), cost_micros: found?.use.used('cost', 'month', now) ?? 0 },
      held_tokens: found?.use.heldTokens ?? 0,
    },
  };
}

export function usageBody(
  by: UsageGroup,
  from: number,
  to: number,
  sums: readonly UsageSum[],
  limit: number,
): Static<typeof UsageReport> {
  const shown = sums.slice(0, limit);
  const last = sums.length > limit ? shown.at(-1) : undefined;
  const data = shown.map(
    ({ milliseconds, audio_ms, currency, last_currency, estimated_requests: nEstimated, cost_micros: cost, ...sum }) => ({
      ...sum,
      currency: currency === last_currency ? currency : null,
      cost_micros: currency === null || currency !== last_currency ? null : cost,
      estimated: nEstimated > 0,
      cache_read_tokens: sum.cached_tokens,
      ...(by === 'backend' && { backend: sum.id }),
      total_tokens: sum.prompt_tokens + sum.completion_tokens,
      seconds: milliseconds / 1000,
      audio_seconds: audio_ms / 1000,
    }),
  );
  const times = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  return { by, ...times, data, ...(last !== undefined && { next: `${last.tenant} ${last.id}` }) };
}
