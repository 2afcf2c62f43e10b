/**
 * What one running request holds of the quotas that it counts for. Tokens are held before they are produced, so that many requests at once cannot
 * use more than there is; a request that is larger than a whole quota is admitted when nobody else uses any of it.
 */
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import { meteringError } from '../errors.ts';
import { nextMonthStart } from './calendar-month.ts';
import type { LimitedSubject } from './limited-subject.ts';
import { limitOf, type Measure, type Period, type QuotaName } from './quota-limits.ts';
import type { WindowEntry } from './sliding-window.ts';

const PERIODS: readonly Period[] = ['minute', 'month'];

export class QuotaHold {
  readonly #subjects: readonly LimitedSubject[];
  readonly #now: () => number;
  readonly #entries: WindowEntry[] = [];
  #heldTokens = 0;
  #heldCost = 0;
  #isOpen = true;

  private constructor(subjects: readonly LimitedSubject[], now: () => number) {
    this.#subjects = subjects;
    this.#now = now;
  }

  /** Counts one request and holds its tokens and what it may cost, in all quotas or in none. Throws rate_limit_exceeded or quota_exceeded. */
  static take(
    subjects: readonly LimitedSubject[],
    nTokens: number,
    costMicros: number | undefined,
    now: () => number,
  ): QuotaHold {
    const at = now();
    const shortage = longest([
      ...shortages(subjects, 'requests', 1, 0, at),
      ...shortages(subjects, 'tokens', nTokens, 0, at),
      ...(costMicros === undefined ? [] : shortages(subjects, 'cost', Math.max(1, costMicros), 0, at)),
    ]);
    if (shortage !== undefined) throw quotaRefusal(shortage, at);
    const hold = new QuotaHold(subjects, now);
    hold.#count(nTokens, at);
    hold.#holdCost(costMicros ?? 0);
    return hold;
  }

  get heldTokens(): number {
    return this.#heldTokens;
  }

  /** Holds `nTokens` in all. The refusal: there is not so much. */
  extend(nTokens: number, costMicros = 0): DomainError | undefined {
    const more = nTokens - this.#heldTokens;
    if (more <= 0 || !this.#isOpen) return undefined;
    const at = this.#now();
    const moreCost = Math.max(0, costMicros - this.#heldCost);
    const shortage = longest([
      ...shortages(this.#subjects, 'tokens', more, this.#heldTokens, at),
      ...(moreCost === 0 ? [] : shortages(this.#subjects, 'cost', moreCost, this.#heldCost, at)),
    ]);
    if (shortage !== undefined) return quotaRefusal(shortage, at);
    this.#hold(more);
    this.#holdCost(moreCost);
    return undefined;
  }

  /** So much less is needed than was expected. */
  release(nTokens: number): void {
    if (this.#isOpen) this.#hold(-Math.min(nTokens, this.#heldTokens));
  }

  /** The request is over. Idempotent. */
  end(nPrompt: number, nCompletion: number, costMicros = 0): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const now = this.#now();
    this.#hold(-this.#heldTokens);
    this.#holdCost(-this.#heldCost);
    if (nPrompt + nCompletion === 0) {
      this.#uncount(now);
      return;
    }
    for (const { use } of this.#subjects) {
      use.learnAnswer(nCompletion);
      use.windows.tokens.add(now, nPrompt + nCompletion);
      use.countMonth('tokens', nPrompt + nCompletion, now);
      use.countMonth('cost', costMicros, now);
    }
  }

  /** The request is over, and had none to use: it counts. Idempotent. */
  endWithoutTokens(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#hold(-this.#heldTokens);
    this.#holdCost(-this.#heldCost);
  }

  #count(nTokens: number, at: number): void {
    for (const { use } of this.#subjects) {
      this.#entries.push(use.windows.requests.add(at, 1));
      use.countMonth('requests', 1, at);
    }
    this.#hold(nTokens);
  }

  /** A request that did nothing counts as none. */
  #uncount(now: number): void {
    for (const [i, { use }] of this.#subjects.entries()) {
      const entry = this.#entries[i];
      if (entry !== undefined) use.windows.requests.remove(entry, now);
      use.countMonth('requests', -1, now);
    }
  }

  #holdCost(micros: number): void {
    this.#heldCost += micros;
    for (const { use } of this.#subjects) use.heldCost += micros;
  }

  #hold(nTokens: number): void {
    this.#heldTokens += nTokens;
    for (const { use } of this.#subjects) use.heldTokens += nTokens;
  }
}

/** `own`: what the request holds already. */
function* shortages(
  subjects: readonly LimitedSubject[],
  measure: Measure,
  more: number,
  own: number,
  now: number,
): Generator<Shortage> {
  for (const subject of subjects) {
    for (const period of PERIODS) {
      const limit = limitOf(subject.limits, measure, period);
      if (limit === undefined) continue;
      const used = subject.use.used(measure, period, now);
      const ofOthers = used + heldOf(subject, measure) - own;
      const missing = ofOthers + Math.min(limit, own + more) - limit;
      if (missing <= 0) continue;
      yield {
        subject,
        measure,
        period,
        limit,
        used,
        missing,
        retryAfterMs: retryAfterMs(subject, measure, period, missing, now),
      };
    }
  }
}

function heldOf({ use }: LimitedSubject, measure: Measure): number {
  if (measure === 'requests') return 0;
  return measure === 'tokens' ? use.heldTokens : use.heldCost;
}

/** The one that has to be waited for longest: before that, another attempt is in vain. */
function longest(all: Iterable<Shortage>): Shortage | undefined {
  let found: Shortage | undefined;
  for (const one of all) if (found === undefined || one.retryAfterMs > found.retryAfterMs) found = one;
  return found;
}

/** A wait for requests that hold what is missing: nobody knows when they end. */
const UNKNOWN_MS = 5_000;

interface Shortage {
  subject: LimitedSubject;
  measure: Measure;
  period: Period;
  limit: number;
  used: number;
  /** How much too little there is. */
  missing: number;
  retryAfterMs: number;
}

function retryAfterMs({ use }: LimitedSubject, measure: Measure, period: Period, missing: number, now: number): number {
  if (period === 'month' || measure === 'cost') return nextMonthStart(now) - now;
  return use.windows[measure].untilFree(missing, now) ?? UNKNOWN_MS;
}

function quotaRefusal({ subject, measure, period, limit, used, retryAfterMs }: Shortage, now: number): DomainError {
  const quota: QuotaName = measure === 'cost' ? 'cost_micro_per_month' : `${measure}_per_${period}`;
  const resets_at = new Date(now + retryAfterMs).toISOString();
  const held = measure === 'tokens' && subject.use.heldTokens > 0 ? `, and running requests hold ${subject.use.heldTokens}` : '';
  const what = measure === 'cost' ? 'millionths of cost' : measure;
  const owner = subject.kind === 'tenant' ? 'tenant' : `${subject.kind} ${subject.id}`;
  const sentence = `The ${limit} ${what} a ${period} of the ${owner} are used up: ${used} are used${held}. Some are free again at ${resets_at}.`;
  const extra = { exceeded: { quota, of: subject.kind, id: subject.id, limit, used, resets_at } };
  return meteringError(period === 'minute' ? 'rate_limit_exceeded' : 'quota_exceeded', sentence, { retryAfterMs, extra });
}
