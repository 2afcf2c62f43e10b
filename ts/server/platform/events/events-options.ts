import type { BackoffRange } from '../backoff.ts';
import type { Log } from '../log/log.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { Storage } from '../storage/index.ts';

export interface EventsOptions {
  readonly storage: Storage;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  /** The node's id, which stays the same over restarts; asked for after `start()`. */
  nodeId(): string;
  /** How often the outbox is looked at for what another node recorded. */
  readonly pollMs?: number;
  /** A node that delivered nothing for so long is held dead, and another one delivers. Twice the longest delivery. */
  readonly leaseMs?: number;
  /** Between attempts to deliver an event that failed. */
  readonly retryMs?: BackoffRange;
  /** Events stay for so long after they were recorded, and until all durable subscribers have them. */
  readonly retentionMs?: number;
  /** Milliseconds since 1970. */
  now?(): number;
}

const defaultEventsOptions = {
  pollMs: 1_000,
  leaseMs: 60_000,
  retryMs: { first: 1_000, longest: 300_000 },
  retentionMs: 3_600_000,
  now: () => Date.now(),
} as const satisfies Partial<EventsOptions>;

export type ResolvedEventsOptions = Required<EventsOptions>;

export function resolveEventsOptions(options: EventsOptions): ResolvedEventsOptions {
  return { ...defaultEventsOptions, ...options };
}
