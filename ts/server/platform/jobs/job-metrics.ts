import type { MetricsRegistry } from '../metrics/registry.ts';
import type { JobState } from './job.ts';
import type { RunOutcome } from './running/job-run.ts';
import type { KindCount } from './store/retention-store.ts';

/** Jobs in /metrics, by kind. */
export class JobMetrics {
  readonly #queued;
  readonly #running;
  readonly #seconds;
  readonly #ended;
  #queuedKinds: string[] = [];

  constructor(metrics: MetricsRegistry) {
    this.#queued = metrics.gauge('svc_jobs_queued', 'Jobs that wait, on all nodes of the database.', ['kind']);
    this.#running = metrics.gauge('svc_jobs_running', 'Jobs that run on this node.', ['kind']);
    this.#seconds = metrics.histogram('svc_job_seconds', 'Time that this node ran a job at a stretch.', ['kind', 'outcome']);
    this.#ended = metrics.counter('svc_jobs_ended_total', 'Jobs that ended on this node, by their last state.', [
      'kind',
      'state',
    ]);
  }

  started(kind: string): void {
    this.#running.with({ kind }).add(1);
  }

  stopped(kind: string, outcome: RunOutcome, durationMs: number): void {
    this.#running.with({ kind }).add(-1);
    this.#seconds.with({ kind, outcome }).observe(durationMs / 1000);
    if (outcome === 'done' || outcome === 'failed' || outcome === 'cancelled') this.ended(kind, outcome);
  }

  /** Also of a queued job that was cancelled. */
  ended(kind: string, state: JobState): void {
    this.#ended.with({ kind, state }).add();
  }

  setQueued(counts: readonly KindCount[]): void {
    for (const kind of this.#queuedKinds) this.#queued.with({ kind }).set(0);
    for (const { kind, n } of counts) this.#queued.with({ kind }).set(n);
    this.#queuedKinds = counts.map(({ kind }) => kind);
  }
}
