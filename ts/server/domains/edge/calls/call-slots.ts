/** How many calls of tools one person or key has running at the same time. */
import type { Principal } from '../../../platform/http/principal.ts';
import { ownerKey } from '../approvals/approvals.ts';
import { edgeError } from '../errors.ts';

export class CallSlots {
  readonly #most: number;
  /** The calls of each tenant's owner; one without any has no entry. */
  readonly #running = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns what gives the slot back, once. Throws `budget_exceeded`. */
  take(caller: Principal): () => void {
    const key = `${caller.tenant} ${ownerKey(caller)}`;
    const n = this.#running.get(key) ?? 0;
    if (n >= this.#most)
      throw edgeError('budget_exceeded', `${n} of your calls are running, which is as many as may (tools.calls_at_once).`, {
        retryAfterMs: 1_000,
      });
    this.#running.set(key, n + 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#release(key);
      isHeld = false;
    };
  }

  #release(key: string): void {
    const left = (this.#running.get(key) ?? 1) - 1;
    if (left === 0) this.#running.delete(key);
    else this.#running.set(key, left);
  }
}
