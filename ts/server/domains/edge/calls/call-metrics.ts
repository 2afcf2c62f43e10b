/** Metrics of calls, by the names of tools that the program has. */
import type { Counter, Family, Histogram } from '../../../platform/metrics/metrics.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { Tool } from '../../../platform/tools/tool.ts';

export class CallMetrics {
  readonly #calls: Family<Counter>;
  readonly #seconds: Family<Histogram>;

  constructor(metrics: MetricsRegistry) {
    this.#calls = metrics.counter('svc_tool_calls_total', 'Calls of tools, by outcome: done, failed, asked or denied.', [
      'tool',
      'outcome',
    ]);
    this.#seconds = metrics.histogram('svc_tool_call_seconds', 'How long calls of tools took that were made.', ['tool']);
  }

  ended({ name, metricName: tool = name }: Tool, outcome: 'done' | 'failed', tookMs: number): void {
    this.#calls.with({ tool, outcome }).add();
    this.#seconds.with({ tool }).observe(tookMs / 1000);
  }

  refused({ name, metricName: tool = name }: Tool, outcome: 'asked' | 'denied'): void {
    this.#calls.with({ tool, outcome }).add();
  }
}
