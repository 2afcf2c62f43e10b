/**
 * Tokens a minute for each tenant, prompt and completion together, over a sliding window.
 *
 * A request counts from its end on, for 60 seconds, with the tokens that its usage names (or the recorder estimates, when it was cut off). While it runs, what it is expected
 * to take is reserved, so that many at once cannot overdraw. One that took more than expected is paid back by the window: nothing is
 * admitted until it has slid far enough.
 */
import { inferenceError } from '../errors.ts';

const windowMs = 60_000;
/** When running requests hold what is missing, nobody knows when they end. */
const unknownMs = 5_000;
const defaultAnswerTokens = 256;
const answerMemory = 0.9;

interface Tenant {
  spent: { at: number; tokens: number }[];
  nSpent: number;
  nReserved: number;
  meanAnswerTokens: number;
}

/** What a running request holds of its tenant's budget. */
export interface TokenReservation {
  /** The request is over and took so many tokens. Idempotent. */
  reconcile(nPrompt: number, nCompletion: number): void;
}

const unlimited: TokenReservation = { reconcile() {} };

export class TokenBudgets {
  readonly #tenants = new Map<string, Tenant>();
  readonly #limitOf: (tenant: string) => number | undefined;
  readonly #now: () => number;

  /** `limitOf` gives tokens a minute, undefined for no limit; `now` gives milliseconds. */
  constructor(limitOf: (tenant: string) => number | undefined, now: () => number = () => performance.now()) {
    this.#limitOf = limitOf;
    this.#now = now;
  }

  /** Without `nMost`, a completion is expected to be as long as the tenant's usual ones. Throws rate_limit_exceeded with Retry-After. */
  reserve(name: string, nPromptEstimate: number, nMost?: number): TokenReservation {
    const limit = this.#limitOf(name);
    if (limit === undefined) return unlimited;
    const tenant = this.#tenant(name);
    this.#slide(tenant);
    // A request that is larger than the whole budget may have all of it.
    const nEstimated = Math.min(limit, Math.ceil(nPromptEstimate + (nMost ?? tenant.meanAnswerTokens)));
    const missing = tenant.nSpent + tenant.nReserved + nEstimated - limit;
    if (missing > 0) throw this.#refusal(tenant, limit, missing);
    tenant.nReserved += nEstimated;
    return this.#reservation(tenant, nEstimated);
  }

  #reservation(tenant: Tenant, nEstimated: number): TokenReservation {
    let isOpen = true;
    return {
      reconcile: (nPrompt, nCompletion) => {
        if (!isOpen) return;
        isOpen = false;
        tenant.nReserved -= nEstimated;
        const tokens = nPrompt + nCompletion;
        if (tokens === 0) return;
        tenant.meanAnswerTokens = answerMemory * tenant.meanAnswerTokens + (1 - answerMemory) * nCompletion;
        tenant.spent.push({ at: this.#now(), tokens });
        tenant.nSpent += tokens;
      },
    };
  }

  #tenant(name: string): Tenant {
    const known = this.#tenants.get(name);
    if (known) return known;
    const made = { spent: [], nSpent: 0, nReserved: 0, meanAnswerTokens: defaultAnswerTokens };
    this.#tenants.set(name, made);
    return made;
  }

  #slide(tenant: Tenant): void {
    const before = this.#now() - windowMs;
    let nOver = 0;
    for (const { at, tokens } of tenant.spent) {
      if (at > before) break;
      tenant.nSpent -= tokens;
      nOver++;
    }
    tenant.spent.splice(0, nOver);
  }

  #refusal(tenant: Tenant, limit: number, missing: number): Error {
    const detail = `The tenant's ${limit} tokens a minute are used up (${tenant.nSpent} in the last minute, ${tenant.nReserved} by running requests).`;
    return inferenceError('rate_limit_exceeded', detail, { retryAfterMs: this.#untilFree(tenant, missing) });
  }

  #untilFree({ spent }: Tenant, missing: number): number {
    let freed = 0;
    for (const { at, tokens } of spent) {
      freed += tokens;
      if (freed >= missing) return at + windowMs - this.#now();
    }
    return unknownMs;
  }
}
