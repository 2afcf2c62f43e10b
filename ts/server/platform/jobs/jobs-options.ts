import type { Log } from '../log/log.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { Storage } from '../storage/index.ts';

export interface JobsOptions {
  readonly storage: Storage;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  /** The node's id, which stays the same over restarts; asked for when Jobs starts. */
  nodeId(): string;
  /** Jobs of all kinds that run at a time on this node. */
  readonly maxRunning?: number;
  /** Jobs that one tenant may have queued. */
  readonly maxQueuedPerTenant?: number;
  /** Ended jobs are deleted after this time. */
  readonly retentionMs?: number;
  /** A node that gave no sign of life for so long is held dead, and others run its jobs. */
  readonly leaseMs?: number;
  /** A node that has run no jobs for so long is gone for good, and those that it alone may run fail. */
  readonly nodeGoneMs?: number;
  /** How often the queue is looked at for what another node did, and for jobs that have become due. */
  readonly pollMs?: number;
  /** Whether the ends of jobs are recorded as events (`ended-events.ts`); the database must have the outbox then. */
  readonly tellsEnds?: boolean;
  /** Milliseconds since 1970, for everything but leases, which count by the database's clock. */
  now?(): number;
}

const defaultJobsOptions = {
  maxRunning: 16,
  maxQueuedPerTenant: 10_000,
  retentionMs: 7 * 24 * 3_600_000,
  leaseMs: 30_000,
  nodeGoneMs: 24 * 3_600_000,
  pollMs: 1_000,
  tellsEnds: false,
  now: () => Date.now(),
} as const satisfies Partial<JobsOptions>;

export type ResolvedJobsOptions = Required<JobsOptions>;

export function resolveJobsOptions(options: JobsOptions): ResolvedJobsOptions {
  return { ...defaultJobsOptions, ...options };
}
