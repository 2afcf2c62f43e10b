import type { MetricsRegistry } from '../metrics/registry.ts';

/** Durable events in /metrics, by subscriber. */
export class EventMetrics {
  readonly #deliveries;
  readonly #lag;

  constructor(metrics: MetricsRegistry) {
    this.#deliveries = metrics.counter('svc_event_deliveries_total', 'Deliveries of recorded events.', ['subscriber', 'outcome']);
    this.#lag = metrics.gauge('svc_event_lag_seconds', 'Age of the oldest event that a subscriber has not got.', ['subscriber']);
  }

  delivered(subscriber: string, outcome: 'ok' | 'failed'): void {
    this.#deliveries.with({ subscriber, outcome }).add();
  }

  setLag(subscriber: string, ageMs: number): void {
    this.#lag.with({ subscriber }).set(Math.max(0, ageMs) / 1000);
  }
}
