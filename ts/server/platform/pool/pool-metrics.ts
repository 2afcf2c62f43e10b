/** What /metrics says of the pool. */
import type { Counter, Family, Histogram } from '../metrics/metrics.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { PoolError } from './pool-error.ts';

export class PoolMetrics {
  readonly #seconds: Family<Histogram>;
  readonly #failures: Family<Counter>;

  constructor(registry: MetricsRegistry, read: () => { nQueued: number; nBusy: number }) {
    const queued = registry.gauge('svc_pool_queued_tasks', 'Tasks that wait for a worker thread.').with();
    const busy = registry.gauge('svc_pool_busy_threads', 'Worker threads with a task.').with();
    this.#seconds = registry.histogram('svc_pool_task_seconds', 'Time that tasks ran in a worker thread.', ['task']);
    this.#failures = registry.counter('svc_pool_task_failures_total', 'Tasks without a result, by task and code.', [
      'task',
      'code',
    ]);
    registry.onCollect(() => {
      const { nQueued, nBusy } = read();
      queued.set(nQueued);
      busy.set(nBusy);
    });
  }

  observe(task: string, seconds: number): void {
    this.#seconds.with({ task }).observe(seconds);
  }

  /** Codes of errors that a task threw are its own and could be any: they count as `thrown`, and a caller's abort as `aborted`. */
  countFailure(task: string, error: unknown, isAborted: boolean): void {
    const code = error instanceof PoolError ? error.code : isAborted ? 'aborted' : 'thrown';
    this.#failures.with({ task, code }).add();
  }
}
