/** Jobs on a database of their own, which the test's teardown stops. */
import type { Test } from 'tap';
import { Log } from '../../log/log.ts';
import { MetricsRegistry } from '../../metrics/registry.ts';
import { createStorage, type Storage } from '../../storage/index.ts';
import type { Job } from '../job.ts';
import { Jobs } from '../jobs.ts';
import type { JobsOptions } from '../jobs-options.ts';
import { jobsMigrations } from '../store/migrations.ts';

export interface OpenJobs {
  jobs: Jobs;
  storage: Storage;
  metrics: MetricsRegistry;
  /** The log so far. */
  lines: string[];
}

/** Looks at the queue every 10 ms unless `options` says otherwise. Not started yet. */
export async function openJobs(t: Test, url: string, options: Partial<JobsOptions> = {}): Promise<OpenJobs> {
  const lines: string[] = [];
  const log = new Log({ level: 'debug', format: 'json', sink: { write: (line) => lines.push(line), flush: () => {} } });
  const metrics = new MetricsRegistry();
  const storage = createStorage({ url, modules: [jobsMigrations] });
  await storage.open();
  const jobs = new Jobs({ storage, log, metrics, nodeId: () => 'node-1', pollMs: 10, ...options });
  t.teardown(async () => {
    await jobs.stop(100);
    await storage.close();
  });
  return { jobs, storage, metrics, lines };
}

/** Waits until reading gives what fits. */
export async function until<T>(read: () => T | Promise<T>, fits: (value: T) => boolean, withinMs = 20_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (fits(value)) return value;
    if (performance.now() > deadline) throw new Error(`not seen within ${withinMs} ms; last: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function untilState(jobs: Jobs, scope: Parameters<Jobs['get']>[0], id: string, state: Job['state']): Promise<Job> {
  return until(
    () => jobs.get(scope, id),
    (job) => job.state === state,
  );
}
