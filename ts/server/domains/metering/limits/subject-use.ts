/** What one tenant, user or key has used of its limits, and what its running requests hold. All in memory. */
import { monthStart } from './calendar-month.ts';
import type { Measure, Period, WindowMeasure } from './quota-limits.ts';
import { SlidingWindow } from './sliding-window.ts';

export type Amounts = Record<Measure, number>;

const NO_AMOUNTS: Readonly<Amounts> = Object.freeze({ requests: 0, tokens: 0, cost: 0 });
const DEFAULT_ANSWER_TOKENS = 256;
const ANSWER_MEMORY = 0.9;

export class SubjectUse {
  readonly windows: Record<WindowMeasure, SlidingWindow> = { requests: new SlidingWindow(), tokens: new SlidingWindow() };
  /** What running requests hold. A running request counts as used from its start, so only tokens are held. */
  heldTokens = 0;
  /** Millionths that running requests may cost. */
  heldCost = 0;
  /** What other nodes used in the last minute and hold, as far as this one has heard. */
  othersMinute: Readonly<Amounts> = NO_AMOUNTS;
  othersMonth: Readonly<Amounts> = NO_AMOUNTS;
  /** How long completions without a limit of their own have been, tokens. */
  meanAnswerTokens = DEFAULT_ANSWER_TOKENS;
  #month = 0;
  #ownMonth: Amounts = { ...NO_AMOUNTS };

  /** Whether the use of this month was read from the database. */
  knowsMonth(now: number): boolean {
    return this.#month === monthStart(now);
  }

  /** `own`: everything that this node has used and will write. */
  setMonth(start: number, own: Amounts, others: Amounts): void {
    this.#month = start;
    this.#ownMonth = { ...own };
    this.othersMonth = others;
  }

  /** Without what is held. */
  used(measure: Measure, period: Period, now: number): number {
    if (measure !== 'cost' && period === 'minute') return this.windows[measure].sum(now) + this.othersMinute[measure];
    return this.knowsMonth(now) ? this.#ownMonth[measure] + this.othersMonth[measure] : 0;
  }

  countMonth(measure: Measure, n: number, now: number): void {
    if (this.knowsMonth(now)) this.#ownMonth[measure] += n;
  }

  learnAnswer(nTokens: number): void {
    this.meanAnswerTokens = ANSWER_MEMORY * this.meanAnswerTokens + (1 - ANSWER_MEMORY) * nTokens;
  }
}
