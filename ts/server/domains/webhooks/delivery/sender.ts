/** Sends what is due, a few at a time, and writes what came of it. A node that is killed meanwhile sends it again. */
import type { Log } from '../../../platform/log/log.ts';
import type { Counter, Family } from '../../../platform/metrics/metrics.ts';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import { Repeater } from '../../../platform/repeater.ts';
import type { ClaimedDelivery, DeliveryStore } from '../store/delivery-store.ts';
import { judgeAttempt, type RetryRules } from './judge-attempt.ts';
import { post } from './post.ts';
import { signedHeaders, validSecrets } from './signature.ts';

interface SenderOptions {
  store: DeliveryStore;
  client: HttpClient;
  log: Log;
  /** By outcome: delivered, retried, failed. */
  attempts: Family<Counter>;
  userAgent: string;
  timeoutMs: number;
  rules: RetryRules;
  nodeId(): string;
  now(): number;
  pollMs: number;
  /** The node disabled a webhook. Resolves when that is in the audit log. */
  onDisabled(delivery: ClaimedDelivery, reason: string): Promise<void>;
}

const AT_ONCE = 16;
const AT_ONCE_EACH = 2;
/** Beside the time limit of an attempt, for the database. */
const LEASE_SPARE_MS = 15_000;

export class Sender {
  readonly #options: SenderOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #repeater: Repeater;
  #stopped = new AbortController();

  constructor(options: SenderOptions) {
    this.#options = options;
    const onError = (error: unknown) => options.log.warn('webhooks could not be sent', { error: String(error) });
    this.#repeater = new Repeater({ intervalMs: options.pollMs, run: () => this.#sendDue(), onError });
  }

  /** Rejects with a StorageError. */
  async start(): Promise<void> {
    this.#stopped = new AbortController();
    await this.#options.store.releaseAll(this.#options.nodeId());
    this.#repeater.start();
  }

  wake(): void {
    this.#repeater.wake();
  }

  /** Attempts that are under way are aborted, and made again by whichever node is first. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#repeater.stop();
    await Promise.all(this.#running);
    const { client, store, nodeId, log } = this.#options;
    await client.close();
    await store.releaseAll(nodeId()).catch((error: unknown) => {
      log.warn('deliveries were not released; they are sent when their lease ends', { error: String(error) });
    });
  }

  async #sendDue(): Promise<void> {
    const { store, nodeId, now, timeoutMs } = this.#options;
    const nFree = AT_ONCE - this.#running.size;
    if (nFree <= 0 || this.#stopped.signal.aborted || !(await store.isAnyDue(now()))) return;
    const claimed = await store.claim(nodeId(), now(), timeoutMs + LEASE_SPARE_MS, nFree, AT_ONCE_EACH);
    for (const delivery of claimed) this.#run(delivery);
  }

  #run(delivery: ClaimedDelivery): void {
    const running = this.#attempt(delivery)
      .catch((error: unknown) => this.#options.log.warn('the outcome of a webhook was not written', { error: String(error) }))
      .finally(() => {
        this.#running.delete(running);
        this.#repeater.wake();
      });
    this.#running.add(running);
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { store, client, timeoutMs, userAgent, rules, now, attempts } = this.#options;
    const { id, url, body } = delivery;
    const signed = signedHeaders(validSecrets(delivery, now()), id, now(), body);
    const headers = { ...signed, 'content-type': 'application/json', 'user-agent': userAgent };
    const { signal } = this.#stopped;
    const result = await post({ url: new URL(url), headers, body, client, timeoutMs, signal });
    // Aborted by the stop: no word on the receiver.
    if (signal.aborted && result.status === undefined) return;
    const outcome = judgeAttempt(delivery, result, rules, now());
    attempts.with({ outcome: outcome.delivery.state === 'pending' ? 'retried' : outcome.delivery.state }).add();
    if (outcome.disabledReason !== undefined) await this.#options.onDisabled(delivery, outcome.disabledReason);
    await store.finish(delivery, outcome, now());
  }
}
