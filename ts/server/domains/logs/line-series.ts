/** Collected lines by the hour as series of the tenants whose senders they are of. */
import { countedSource, type SeriesSource } from '../../platform/series/series-registry.ts';
import type { Baselines } from './detection/baselines.ts';
import { everyLine } from './detection/tables.ts';
import { type SenderRule, senderTest } from './index/sender-rule.ts';

interface LineSeriesDeps {
  readonly baselines: Pick<Baselines, 'sums'>;
  sources(): SenderRule['sources'];
  now(): number;
}

/** A tenant that no sender is assigned to has none, and costs no query. */
export function lineSeries({ baselines, sources, now }: LineSeriesDeps): SeriesSource {
  return countedSource({ source: 'logs', whole: 'logs.lines', unit: 'lines', now }, async ({ tenant }, since) => {
    const assigned = sources();
    if (!assigned.some((source) => source.tenant === tenant)) return [];
    return await baselines.sums(everyLine(), since, senderTest({ sources: assigned, tenant }));
  });
}
