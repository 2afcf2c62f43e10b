/** The limits of a run in which a model calls tools, whoever asked for it: a round begins only below all of them. */

export interface RunLimits {
  readonly rounds: number;
  readonly calls: number;
  /** Tokens of prompts and answers together. */
  readonly tokens: number;
  readonly seconds: number;
  /** Millionths that providers bill; 0: no limit. */
  readonly costMicros: number;
}

interface RoundUse {
  readonly nTokens: number;
  readonly costMicros: number;
}

/** The same call with the same result so often ends a run. */
const MOST_REPEATS = 3;

export class RunBudget {
  readonly #limits: RunLimits;
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #seen = new Map<string, number>();
  #nRounds = 0;
  #nCalls = 0;
  #nTokens = 0;
  #costMicros = 0;
  #isRepeating = false;

  constructor(limits: RunLimits, now: () => number = Date.now) {
    this.#limits = limits;
    this.#now = now;
    this.#startedAt = now();
  }

  /** The limit that is reached, so that no tool may be called any more; undefined: none is. */
  get spent(): 'rounds' | 'calls' | 'tokens' | 'seconds' | 'cost' | 'repetition' | undefined {
    const { rounds, calls, tokens, seconds, costMicros } = this.#limits;
    if (this.#isRepeating) return 'repetition';
    if (this.#nRounds >= rounds) return 'rounds';
    if (this.#nCalls >= calls) return 'calls';
    if (this.#nTokens >= tokens) return 'tokens';
    if (this.#now() - this.#startedAt >= seconds * 1000) return 'seconds';
    return costMicros > 0 && this.#costMicros >= costMicros ? 'cost' : undefined;
  }

  round({ nTokens, costMicros }: RoundUse): void {
    this.#nRounds += 1;
    this.#nTokens += nTokens;
    this.#costMicros += costMicros;
  }

  /** Counts a call that is to be made. False: the run has had as many as it may have. */
  takeCall(): boolean {
    if (this.#nCalls >= this.#limits.calls) return false;
    this.#nCalls += 1;
    return true;
  }

  /** @param key of the call with its result. */
  called(key: string): void {
    const n = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, n);
    if (n >= MOST_REPEATS) this.#isRepeating = true;
  }
}
