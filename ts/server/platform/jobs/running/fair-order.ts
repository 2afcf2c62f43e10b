import type { QueueHead } from '../store/claim-store.ts';

/**
 * The tenants' next jobs in the order in which they may start: of the tenant that runs least, and among equals of the tenant whose last start
 * is longest ago, however many jobs it has queued.
 */
export function inFairOrder(heads: readonly QueueHead[], lastStarts: ReadonlyMap<string, number>): QueueHead[] {
  const lastStart = ({ tenant }: QueueHead) => lastStarts.get(tenant) ?? 0;
  return [...heads].sort((a, b) => a.running - b.running || lastStart(a) - lastStart(b) || a.runAfter - b.runAfter);
}
