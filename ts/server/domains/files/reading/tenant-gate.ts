/** Keeps a tenant from taking all threads: its further files wait while others' go on. */
import { PoolError } from '../../../platform/pool/pool-error.ts';

interface Waiting {
  start: () => void;
  abort: (reason: unknown) => void;
}

export class TenantGate {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, Set<Waiting>>();

  /** @param maxRunning of one tenant. @param maxWaiting of one tenant too. */
  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /** Rejects with PoolError `pool_full`, and with the signal's reason while it waits. */
  async run<T>(tenant: string, signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const running = this.#running.get(tenant) ?? 0;
    if (running >= this.#maxRunning) await this.#wait(tenant, signal);
    else this.#running.set(tenant, running + 1);
    try {
      return await act();
    } finally {
      this.#next(tenant);
    }
  }

  async #wait(tenant: string, signal: AbortSignal | undefined): Promise<void> {
    const queue = this.#waiting.get(tenant) ?? new Set();
    this.#waiting.set(tenant, queue);
    if (queue.size >= this.#maxWaiting)
      throw new PoolError('pool_full', `${queue.size} files of the tenant wait to be read already. Try again later.`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { start: resolve, abort: reject };
    const onAbort = () => {
      if (queue.delete(waiting)) waiting.abort(signal?.reason);
    };
    queue.add(waiting);
    signal?.addEventListener('abort', onAbort);
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** The place goes to the tenant's next file, or is free. */
  #next(tenant: string): void {
    const queue = this.#waiting.get(tenant);
    const [first] = queue ?? [];
    if (queue !== undefined && first !== undefined) {
      queue.delete(first);
      first.start();
      return;
    }
    this.#waiting.delete(tenant);
    const left = (this.#running.get(tenant) ?? 1) - 1;
    if (left > 0) this.#running.set(tenant, left);
    else this.#running.delete(tenant);
  }
}
