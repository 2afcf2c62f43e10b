/** The figures of the module in /metrics. */
import type { MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { RemoteObserver } from './link/remote-backend.ts';

interface Now {
  readonly nNodes: number;
  readonly mapAgeSeconds: number;
  /** Undefined: another node leads. */
  readonly epoch: number | undefined;
  /** Answers that it makes for others. */
  readonly nAnswered: number;
  /** How many seconds each standby is behind, by its id. */
  readonly lags: readonly [node: string, seconds: number][];
}

export class ClusterMetrics {
  readonly observer: RemoteObserver;
  /** A request of a client that was sent on has ended. */
  readonly countForward: (outcome: string) => void;

  constructor(metrics: MetricsRegistry, now: () => Now) {
    const forwards = metrics.counter(
      'svc_cluster_forwards_total',
      'Answers that other nodes made for this one, by how they ended.',
      ['outcome'],
    );
    const retries = metrics
      .counter('svc_cluster_forward_retries_total', 'Times that such an answer began again at another node.')
      .with();
    const saved = metrics
      .counter('svc_cluster_prefix_tokens_saved_total', 'Tokens of prompts that other nodes had in their caches.')
      .with();
    const sentOn = metrics.counter(
      'svc_cluster_requests_sent_on_total',
      'Requests of clients that other nodes answered for this one, by how they ended.',
      ['outcome'],
    );
    this.observer = {
      onEnd: (outcome, nAttempts) => {
        forwards.with({ outcome }).add(1);
        if (nAttempts > 1) retries.add(nAttempts - 1);
      },
      onSaved: (nTokens) => saved.add(nTokens),
    };
    this.countForward = (outcome) => sentOn.with({ outcome }).add(1);
    collect(metrics, now);
  }
}

function collect(metrics: MetricsRegistry, now: () => Now): void {
  const lag = metrics.gauge('svc_cluster_replica_lag_seconds', 'Age of the newest snapshot that a standby has; 0: it has all.', [
    'node',
  ]);
  const size = metrics.gauge('svc_cluster_nodes', 'Nodes of the cluster that are not gone.').with();
  const age = metrics.gauge('svc_cluster_map_age_seconds', 'Time since this node last read the map of the cluster.').with();
  const leads = metrics.gauge('svc_cluster_epoch', 'The epoch in which this node leads; 0 while another one does.').with();
  const answered = metrics.gauge('svc_cluster_running', 'Answers that this node makes for others now.').with();
  let shown: Now['lags'] = [];
  metrics.onCollect(() => {
    const { nNodes, mapAgeSeconds, epoch, nAnswered, lags } = now();
    size.set(nNodes);
    age.set(mapAgeSeconds);
    for (const [node] of shown) lag.delete({ node });
    for (const [node, seconds] of lags) lag.with({ node }).set(seconds);
    shown = lags;
    leads.set(epoch ?? 0);
    answered.set(nAnswered);
  });
}
