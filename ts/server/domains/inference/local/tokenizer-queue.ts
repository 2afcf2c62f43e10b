/**
 * Admission of long texts to the tokenizer, by their bytes: it reads about a megabyte a second and needs some thirty bytes of memory for
 * each. Few are read at once, tenants take turns, and what waits is bounded.
 */
import { inferenceError } from '../errors.ts';

export interface TokenizerQueueLimits {
  /** Larger texts are refused. */
  maxTextBytes: number;
  maxRunning: number;
  /** The most bytes of all that wait or run, and of one tenant's. */
  maxBytes: number;
  maxTenantBytes: number;
}

const tokenizerQueueLimits: TokenizerQueueLimits = {
  maxTextBytes: 8 * 1024 * 1024,
  maxRunning: 2,
  maxBytes: 64 * 1024 * 1024,
  maxTenantBytes: 32 * 1024 * 1024,
};

/** Shorter texts cost less than their way through a queue. */
const longBytes = 64 * 1024;
const retryAfterMs = 1000;

export class TokenizerQueue {
  readonly #limits: TokenizerQueueLimits;
  readonly #bytes = new Map<string, number>();
  /** The tenants that wait, in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #sumBytes = 0;
  #nRunning = 0;

  constructor(limits: TokenizerQueueLimits = tokenizerQueueLimits) {
    this.#limits = limits;
  }

  /** Throws invalid_request for a text that is too long, queue_full, or the signal's reason. */
  async run<T>(tenant: string, sizeBytes: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (sizeBytes < longBytes) return work();
    this.#admit(tenant, sizeBytes);
    this.#count(tenant, sizeBytes);
    try {
      if (this.#nRunning >= this.#limits.maxRunning) await this.#turn(tenant);
      else this.#nRunning++;
      try {
        signal.throwIfAborted();
        return await work();
      } finally {
        this.#pass();
      }
    } finally {
      this.#count(tenant, -sizeBytes);
    }
  }

  #admit(tenant: string, sizeBytes: number): void {
    const { maxTextBytes, maxBytes, maxTenantBytes } = this.#limits;
    if (sizeBytes > maxTextBytes)
      throw inferenceError('invalid_request', `The text has ${sizeBytes} bytes; at most ${maxTextBytes} are tokenised at once.`);
    const mine = this.#bytes.get(tenant) ?? 0;
    if (mine + sizeBytes <= maxTenantBytes && this.#sumBytes + sizeBytes <= maxBytes) return;
    throw inferenceError('queue_full', 'Too much text waits to be tokenised.', { retryAfterMs });
  }

  #count(tenant: string, sizeBytes: number): void {
    const sum = (this.#bytes.get(tenant) ?? 0) + sizeBytes;
    if (sum > 0) this.#bytes.set(tenant, sum);
    else this.#bytes.delete(tenant);
    this.#sumBytes += sizeBytes;
  }

  #turn(tenant: string): Promise<void> {
    return new Promise((resolve) => {
      const mine = this.#waiting.get(tenant) ?? [];
      mine.push(resolve);
      this.#waiting.set(tenant, mine);
    });
  }

  /** Whoever is next takes the place; then its tenant goes behind the others. */
  #pass(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#nRunning--;
      return;
    }
    const [tenant, [begin, ...others]] = next;
    this.#waiting.delete(tenant);
    if (others.length > 0) this.#waiting.set(tenant, others);
    begin?.();
  }
}
