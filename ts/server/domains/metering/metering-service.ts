/** Admits requests by the quotas that they count for, and meters them. */
import type { SystemScope } from '../../platform/storage/index.ts';
import { meteringError } from './errors.ts';
import type { MonthLoader } from './limits/month-loader.ts';
import { QuotaHold } from './limits/quota-hold.ts';
import { rateLimitFields } from './limits/rate-limit-fields.ts';
import type { SubjectRegistry } from './limits/subject-registry.ts';
import type { MeteredCaller } from './metered-caller.ts';
import { RequestMeter } from './usage/request-meter.ts';
import type { UsageJournal } from './usage/usage-journal.ts';
import type { UsageStore } from './usage/usage-store.ts';

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
  /** Is told the header fields of the answer, also of a refusal. */
  announce?: ((name: string, value: string) => void) | undefined;
}

export interface MeteringServiceDeps {
  store: UsageStore;
  journal: UsageJournal;
  registry: SubjectRegistry;
  months: MonthLoader;
  everyone: SystemScope;
  nodeId(): string;
  /** Unix milliseconds. */
  now(): number;
}

export class MeteringService {
  readonly #deps: MeteringServiceDeps;

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
    const { model, operation, nPromptEstimate, nMost, isStreamed } = work;
    const nExpected = nMost ?? Math.max(0, ...subjects.map(({ use }) => use.meanAnswerTokens));
    try {
      const nTokens = Math.ceil(nPromptEstimate + nExpected);
      const hold = subjects.length === 0 ? undefined : QuotaHold.take(subjects, nTokens, now);
      const key = { tenant: caller.tenant, user_id: caller.user ?? '', key_id: caller.key ?? '', model, operation };
      return new RequestMeter({ key, journal, hold, isStreamed, nPromptEstimate, nMost, now });
    } finally {
      if (work.announce !== undefined) for (const [name, value] of rateLimitFields(subjects, now())) work.announce(name, value);
    }
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
