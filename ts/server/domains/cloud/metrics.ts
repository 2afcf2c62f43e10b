/** The figures that the cloud module tells Prometheus. The labels have names that administrators gave, so their set is bounded. */
import type { MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { CloudObserver } from './cloud-backend.ts';
import type { BackendRegistry } from './registry/backend-registry.ts';

type Counted = Pick<CloudObserver, 'attempted' | 'opened' | 'waited' | 'ended'>;

const TOKEN_KINDS = [
  ['prompt', 'nPromptTokens'],
  ['completion', 'nCompletionTokens'],
  ['cache_read', 'nCacheReadTokens'],
  ['cache_write_5m', 'nCacheWrite5mTokens'],
  ['cache_write_1h', 'nCacheWrite1hTokens'],
  ['reasoning', 'nReasoningTokens'],
] as const;
const BREAKER = { closed: 0, probing: 1, open: 2 } as const;

export function cloudMetrics(metrics: MetricsRegistry, registry: BackendRegistry): Counted {
  const requests = metrics.counter(
    'svc_cloud_requests_total',
    'Answers of providers that began, by how they ended: ok, cut or cancelled.',
    ['backend', 'model', 'outcome'],
  );
  const attempts = metrics.counter(
    'svc_cloud_attempts_total',
    'Requests to providers, by what came of them before anything was said: ok, request, missing, credential, credit, limit or passing.',
    ['backend', 'model', 'outcome'],
  );
  const first = metrics.histogram('svc_cloud_first_content_seconds', 'From a request to a provider to the first content.', [
    'backend',
  ]);
  const queued = metrics.histogram('svc_cloud_queue_seconds', 'For how long requests wait for a backend’s limits.', ['backend']);
  const tokens = metrics.counter('svc_cloud_tokens_total', 'Tokens of providers by kind.', ['backend', 'model', 'kind']);
  const cost = metrics.counter('svc_cloud_cost_micros_total', 'What providers bill, in millionths of the currency.', [
    'backend',
    'model',
    'currency',
  ]);
  const waiting = metrics.gauge('svc_cloud_waiting_requests', 'Requests that wait for a backend’s limits.', ['backend']);
  const running = metrics.gauge('svc_cloud_running_requests', 'Requests that a backend answers now.', ['backend']);
  const breaker = metrics.gauge('svc_cloud_breaker_state', '0 closed, 1 half open, 2 open.', ['backend', 'model']);
  metrics.onCollect(() => {
    for (const backend of registry.backends) {
      waiting.with({ backend: backend.id }).set(backend.pace.nWaiting);
      running.with({ backend: backend.id }).set(backend.pace.nRunning);
      for (const { id: model } of backend.offered.values())
        breaker.with({ backend: backend.id, model }).set(BREAKER[backend.breaker(model).state]);
    }
  });
  return {
    attempted: ({ backend, model }, outcome) => attempts.with({ backend: backend.id, model, outcome }).add(),
    opened: ({ backend }, ms) => {
      backend.began(ms);
      first.with({ backend: backend.id }).observe(ms / 1000);
    },
    waited: ({ backend }, ms) => queued.with({ backend: backend.id }).observe(ms / 1000),
    ended: ({ id: backend }, model, outcome, use, used) => {
      requests.with({ backend, model, outcome }).add();
      for (const [kind, name] of TOKEN_KINDS) if (used[name] > 0) tokens.with({ backend, model, kind }).add(used[name]);
      if (use?.costMicros !== undefined) cost.with({ backend, model, currency: use.currency }).add(use.costMicros);
    },
  };
}
