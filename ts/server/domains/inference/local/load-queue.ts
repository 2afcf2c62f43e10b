/** How much may wait for each model to be loaded; what is beyond is refused, as the engine refuses what its queue has no room for. */
import { inferenceError } from '../errors.ts';

export interface LoadQueueLimits {
  maxRequests: number;
  /** Tokens that the prompts of all who wait may come to. */
  maxTokens: number;
}

interface Waiting {
  nRequests: number;
  nTokens: number;
}

export class LoadQueue {
  readonly #limits: LoadQueueLimits;
  readonly #byModel = new Map<string, Waiting>();

  constructor(limits: LoadQueueLimits) {
    this.#limits = limits;
  }

  /** Counts the request until the returned function is called, once. Throws queue_full with Retry-After. */
  enter(id: string, nTokens: number, retryAfterMs: number): () => void {
    const waiting = this.#byModel.get(id) ?? { nRequests: 0, nTokens: 0 };
    if (waiting.nRequests >= this.#limits.maxRequests || waiting.nTokens >= this.#limits.maxTokens)
      throw inferenceError('queue_full', `Too many requests wait for the model ${id} to be loaded.`, { retryAfterMs });
    waiting.nRequests++;
    waiting.nTokens += nTokens;
    this.#byModel.set(id, waiting);
    return () => {
      waiting.nTokens -= nTokens;
      if (--waiting.nRequests === 0) this.#byModel.delete(id);
    };
  }
}
