/** The database in /metrics and in the log. */
import type { Log } from '../log/log.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { StorageObserver } from './storage-options.ts';

export function observeStorage(metrics: MetricsRegistry, log: Log): StorageObserver {
  const commits = metrics.histogram('svc_storage_commit_seconds', 'Time of a commit, from its first statement.').with();
  const written = metrics.counter('svc_storage_writes_total', 'Writes by outcome.', ['outcome']);
  const waits = metrics.histogram('svc_storage_operation_seconds', 'Reads and writes, their wait included.', ['kind']);
  const retries = metrics.counter('svc_storage_retries_total', 'Transactions that the database asked to repeat.').with();
  const failing = metrics.gauge('svc_storage_failing', '1 while the database takes no writes.').with();
  return {
    onCommit: ({ durationMs }) => commits.observe(durationMs / 1000),
    onRead: ({ durationMs }) => waits.with({ kind: 'read' }).observe(durationMs / 1000),
    onWrite: ({ durationMs, failed }) => {
      waits.with({ kind: 'write' }).observe(durationMs / 1000);
      written.with({ outcome: failed ? 'failed' : 'ok' }).add();
    },
    onRetry: () => retries.add(),
    onIoError: (error) => {
      failing.set(1);
      log.error('the database takes no writes', { error: error.message, remedy: error.remedy });
    },
    onRecovered: ({ durationMs }) => {
      failing.set(0);
      log.info('the database takes writes again', { after_ms: Math.round(durationMs) });
    },
  };
}
