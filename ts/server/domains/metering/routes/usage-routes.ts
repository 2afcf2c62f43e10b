/** What was used. */
import { hasRole, type Principal } from '../../../platform/http/principal.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import type { StorageScope } from '../../../platform/storage/index.ts';
import { visibleScope, visibleTenant } from '../access-check.ts';
import { meteringError, meteringErrors } from '../errors.ts';
import {
  UsageQueryShape,
  UsageReport,
  UsageSeriesQueryShape,
  UsageSeriesReport,
  usageBody,
  usageSeriesBody,
} from '../schemas.ts';
import type { UsageJournal } from '../usage/usage-journal.ts';
import { usageSeries } from '../usage/usage-series.ts';
import type { UsageStore } from '../usage/usage-store.ts';

interface UsageRouteDeps {
  store: UsageStore;
  journal: UsageJournal;
  now(): number;
}

const HOUR_MS = 60 * 60 * 1000;
const DEFAULT_SPAN_MS = 30 * 24 * HOUR_MS;
const DEFAULT_LIMIT = 100;
const STEPS = { hour: HOUR_MS, day: 24 * HOUR_MS };
/** Of the line of one group; more would be pixels that nobody sees. */
const MOST_STEPS = 1_000;
const MOST_GROUPS = 6;
/** A caller that belongs to no account has used nothing of its own. */
const NOBODY = '-';

const { get } = routes({ tag: 'Metering', auth: 'viewer', scope: 'account:manage', errors: meteringErrors });

export function usageRoute({ store, journal, now }: UsageRouteDeps): Route {
  return get('/api/v1/metering/usage', {
    summary: 'Requests, tokens and seconds by key, user, model or tenant',
    description:
      'Of the caller’s own account; for an administrator of the tenant, for a superadmin of all tenants or of the one that `tenant` names. Usage is counted ' +
      'by hours: `from` and `to` are rounded down to one, and the hour of `to` is counted when it says no time. The last 30 days by default.',
    query: UsageQueryShape,
    answer: UsageReport,
    errors: ['invalid_request', 'forbidden'],
    handle: async ({ caller, query }) => {
      const { by = 'key', tenant, after = '', limit = DEFAULT_LIMIT } = query;
      const { from, end } = spanOf(query, now());
      await journal.flush();
      const user = ownUser(caller);
      const sums = await store.sum(scopeOf(caller, tenant), { by, from, to: end, user, after, limit: limit + 1 });
      return usageBody(by, from, end, sums, limit);
    },
  });
}

/** The same over time, for plots. */
export function usageSeriesRoute({ store, journal, now }: UsageRouteDeps): Route {
  return get('/api/v1/metering/usage/series', {
    summary: 'Requests and tokens over time: of the keys, users, models or tenants that used the most, and of all together',
    description: `Of whom, from when and to when are as in GET /api/v1/metering/usage; at most ${MOST_STEPS} steps.`,
    query: UsageSeriesQueryShape,
    answer: UsageSeriesReport,
    errors: ['invalid_request', 'forbidden'],
    handle: async ({ caller, query }) => {
      const { by = 'model', tenant, step = 'day' } = query;
      const { from, end } = spanOf(query, now());
      const stepMs = STEPS[step];
      if ((end - from) / stepMs > MOST_STEPS) {
        throw meteringError('invalid_request', `There are at most ${MOST_STEPS} steps: ask for less time, or for days.`, {
          param: 'step',
        });
      }
      await journal.flush();
      const asked = { by, from, to: end, user: ownUser(caller), stepMs, nGroups: MOST_GROUPS };
      const points = await store.series(scopeOf(caller, tenant), asked);
      return usageSeriesBody({ by, step, from, to: end }, usageSeries(points, from, end, stepMs));
    },
  });
}

/** Hours that begin in [from, end). Throws for a span that ends before it begins. */
function spanOf({ from, to }: { from?: string; to?: string }, now: number): { from: number; end: number } {
  const end = to === undefined ? hourOf(now) + HOUR_MS : hourOf(timeOf('to', to));
  return { from: from === undefined ? end - DEFAULT_SPAN_MS : hourOf(timeOf('from', from)), end };
}

/** Undefined: the caller sees what others used too. */
function ownUser(caller: Principal): string | undefined {
  return caller.kind === 'anonymous' || hasRole(caller, 'admin') ? undefined : (caller.subject ?? NOBODY);
}

function scopeOf(caller: Principal, tenant: string | undefined): StorageScope {
  const scope = tenant === undefined ? visibleScope(caller) : visibleTenant(caller, tenant);
  if (scope !== undefined) return scope;
  throw meteringError('forbidden', 'Only a superadmin sees the usage of another tenant.');
}

function hourOf(ms: number): number {
  return ms - (((ms % HOUR_MS) + HOUR_MS) % HOUR_MS);
}

function timeOf(name: string, text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isSafeInteger(ms)) return ms;
  throw meteringError('invalid_request', `${name} must be a time in ISO 8601, for example 2026-11-01T08:00:00Z.`, {
    param: name,
  });
}
