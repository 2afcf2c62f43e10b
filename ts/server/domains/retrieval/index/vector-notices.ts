/** What the index thread says that an operator should know, once in the log, and in the metrics and the health report as long as it holds. */
import type { Log } from '../../../platform/log/log.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { HealthReason } from '../../../platform/module/module.ts';
import type { VectorNotice } from './vector-index.ts';

const MEANINGS: Readonly<Record<VectorNotice['code'], { readonly effect: string; readonly remedy: string }>> = {
  vector_addon_unavailable: {
    effect:
      'Vectors of knowledge bases are compared one by one in JavaScript, slowly, and indexes are not kept for the next start.',
    remedy: 'Run `svc doctor`; mend what it says of the native libraries, then restart.',
  },
  vector_folder_unavailable: {
    effect: 'Vectors of knowledge bases lie whole in memory, although data.vector_storage asks for less.',
    remedy: 'See that data_dir can be written and the disk has room, then restart.',
  },
};

export class VectorNotices {
  readonly #log: Log;
  readonly #reasons = new Map<VectorNotice['code'], HealthReason>();

  constructor(log: Log, metrics: MetricsRegistry) {
    this.#log = log;
    const gauge = metrics.gauge(
      'svc_knowledge_vectors_degraded',
      '1 while vectors of knowledge bases are not held as they should be, by why.',
      ['reason'],
    );
    for (const code of Object.keys(MEANINGS)) gauge.with({ reason: code }).set(0);
    metrics.onCollect(() => {
      for (const code of this.#reasons.keys()) gauge.with({ reason: code }).set(1);
    });
  }

  get reasons(): readonly HealthReason[] {
    return [...this.#reasons.values()];
  }

  take({ code, reason }: VectorNotice): void {
    const { effect, remedy } = MEANINGS[code];
    if (!this.#reasons.has(code)) this.#log.warn(effect, { code, reason, remedy });
    this.#reasons.set(code, { code, detail: `${effect} ${reason} ${remedy}` });
  }
}
