/** Admits requests by the quotas that they count for, and meters them. */
import type { DomainError } from '../../platform/errors/domain-error.ts';
import type { SystemScope } from '../../platform/storage/index.ts';
import { meteringError } from './errors.ts';
import { nextMonthStart } from './limits/calendar-month.ts';
import type { LimitedSubject } from './limits/limited-subject.ts';
import { QuotaHold } from './limits/quota-hold.ts';
import { limitOf, type Period, type WindowMeasure } from './limits/quota-limits.ts';
import type { MonthLoader, SubjectRegistry } from './limits/subject-registry.ts';
import { type CostOf, RequestMeter } from './usage/request-meter.ts';
import type { UsageJournal } from './usage/usage-journal.ts';
import type { UsageStore } from './usage/usage-store.ts';

/** For whom something is metered. */
export interface MeteredCaller {
  tenant: string;
  /** Id of the account; undefined: none. */
  user: string | undefined;
  /** Id of the API key; undefined: another kind of credential, or none. */
  key: string | undefined;
}

/** A request before it is run. */
export interface MeteredWork {
  model: string;
  /** For example chat or embeddings. */
  operation: string;
  nPromptEstimate: number;
  /** Most completion tokens; undefined: the client sets no limit. */
  nMost: number | undefined;
  /** Whether parts of the answer reach the client before its end. */
  isStreamed: boolean;
  /** It runs no model: it counts as a request, and has no tokens. */
  hasNoTokens?: true;
  /** Of a model that somebody bills for. */
  costOf?: CostOf | undefined;
  /** Is told the header fields of the answer, also of a refusal. */
  announce?: ((name: string, value: string) => void) | undefined;
}

interface MeteringServiceDeps {
  store: UsageStore;
  journal: UsageJournal;
  registry: SubjectRegistry;
  months: MonthLoader;
  everyone: SystemScope;
  nodeId(): string;
  /** The money of a month is used up; told once a month for each budget. */
  onBudgetExceeded(tenant: string, exceeded: ExceededBudget): void;
  /** Unix milliseconds. */
  now(): number;
}

interface ExceededBudget {
  of: string;
  id: string;
  limit: number;
  used: number;
  resets_at: string;
}

export class MeteringService {
  readonly #deps: MeteringServiceDeps;
  /** With the month's end, so that the next one is told again. */
  readonly #toldBudgets = new Set<string>();

  constructor(deps: MeteringServiceDeps) {
    this.#deps = deps;
  }

  /** Throws rate_limit_exceeded or quota_exceeded, or storage_unavailable when nothing can be recorded. */
  async begin(caller: MeteredCaller, work: MeteredWork): Promise<RequestMeter> {
    const { journal, registry, now } = this.#deps;
    if (journal.isBehind) throw notRecordable();
    const subjects = registry.of(caller);
    const loading = this.#deps.months.load(subjects, now());
    if (loading !== undefined) await loading.catch((cause: unknown) => Promise.reject(notRecordable(cause)));
    const { model, operation, nPromptEstimate, nMost, isStreamed, hasNoTokens, costOf } = work;
    const nExpected = nMost ?? Math.max(0, ...subjects.map(({ use }) => use.meanAnswerTokens));
    try {
      const nTokens = Math.ceil(nPromptEstimate + nExpected);
      const hold =
        subjects.length === 0 ? undefined : QuotaHold.take(subjects, nTokens, costOf?.(nPromptEstimate, nExpected), now);
      const key = { tenant: caller.tenant, user_id: caller.user ?? '', key_id: caller.key ?? '', model, operation };
      return new RequestMeter({ key, journal, hold, isStreamed, hasNoTokens, nPromptEstimate, nMost, costOf, now });
    } catch (error) {
      this.#tellBudget(caller.tenant, error);
      throw error;
    } finally {
      if (work.announce !== undefined) for (const [name, value] of rateLimitFields(subjects, now())) work.announce(name, value);
    }
  }

  #tellBudget(tenant: string, error: unknown): void {
    const { quota, ...exceeded } = ((error as DomainError).extra?.['exceeded'] ?? {}) as ExceededBudget & { quota?: string };
    const key = `${tenant} ${exceeded.of} ${exceeded.id} ${exceeded.resets_at}`;
    if (quota !== 'cost_micro_per_month' || this.#toldBudgets.has(key)) return;
    this.#toldBudgets.add(key);
    this.#deps.onBudgetExceeded(tenant, exceeded);
  }

  /** What a process that was killed left open counts with what it may have used at most. */
  async reconcile(): Promise<number> {
    const { store, journal, everyone, nodeId, now } = this.#deps;
    const rows = await store.openRequests(everyone, nodeId(), now());
    await Promise.all(
      rows.map(({ tenant, user_id, key_id, model, operation, ...row }) =>
        journal.end({
          tenant,
          user_id,
          key_id,
          model,
          operation,
          id: row.id,
          wasOpened: true,
          hasNoTokens: row.prompt_tokens + row.completion_tokens === 0 ? true : undefined,
          cachedTokens: 0,
          startedAt: row.started_at,
          endedAt: row.touched_at,
          promptTokens: row.prompt_tokens,
          completionTokens: row.completion_tokens,
        }),
      ),
    );
    return rows.length;
  }
}

function notRecordable(cause?: unknown) {
  const sentence = 'What is used cannot be recorded now, so nothing is answered; try again.';
  return meteringError('storage_unavailable', sentence, { cause, retryAfterMs: 1000 });
}

interface Level {
  limit: number;
  left: number;
  resetMs: number;
}

const MEASURES: readonly WindowMeasure[] = ['requests', 'tokens'];
/** Names of all fields, which pages of other origins may read. */
export const RATE_LIMIT_HEADERS: readonly string[] = MEASURES.flatMap((measure) =>
  ['limit', 'remaining', 'reset'].map((field) => `x-ratelimit-${field}-${measure}`),
);

function rateLimitFields(subjects: readonly LimitedSubject[], now: number): [name: string, value: string][] {
  return MEASURES.flatMap((measure) => {
    const level = lowest(subjects, measure, 'minute', now) ?? lowest(subjects, measure, 'month', now);
    if (level === undefined) return [];
    return [
      [`x-ratelimit-limit-${measure}`, String(level.limit)],
      [`x-ratelimit-remaining-${measure}`, String(level.left)],
      [`x-ratelimit-reset-${measure}`, durationText(level.resetMs)],
    ];
  });
}

function lowest(subjects: readonly LimitedSubject[], measure: WindowMeasure, period: Period, now: number): Level | undefined {
  let found: Level | undefined;
  for (const { limits, use } of subjects) {
    const limit = limitOf(limits, measure, period);
    if (limit === undefined) continue;
    const used = use.used(measure, period, now);
    const left = Math.max(0, limit - used - (measure === 'tokens' ? use.heldTokens : 0));
    if (found !== undefined && found.left <= left) continue;
    const resetMs = period === 'month' ? nextMonthStart(now) - now : (use.windows[measure].untilFree(used, now) ?? 0);
    found = { limit, left, resetMs };
  }
  return found;
}

/** Like Go's durations: `1h0m3s`, `6m0s`, `1.5s`, `20ms`. */
function durationText(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours > 0) return `${hours}h${minutes}m${seconds % 60}s`;
  return minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds}s`;
}
