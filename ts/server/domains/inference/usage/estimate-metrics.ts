/**
 * The estimates that an engine and an embedder steer by, for Prometheus: an operator sees what they believe about their machine. 0 where nothing is
 * known yet.
 */
import type { DraftKind, EmbedderStats, EngineStats } from '../../../native/llama-shapes.ts';
import type { Family, Gauge } from '../../../platform/metrics/metrics.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';

/** Name after `svc_inference_`, what it is, and its value in base units. */
const table: readonly [name: string, help: string, read: (stats: EngineStats) => number][] = [
  ['estimated_decode_step_seconds', 'A step that evaluates no prompt.', ({ estimates }) => estimates.decodeStepMs / 1000],
  [
    'estimated_prefill_token_seconds',
    'One more token of a prompt, at its beginning.',
    ({ estimates }) => estimates.prefillTokenMs / 1000,
  ],
  [
    'estimated_prefill_token_depth_seconds',
    'What each token in front of it adds to that.',
    ({ estimates }) => estimates.prefillTokenDepthMs / 1000,
  ],
  [
    'compute_threads',
    'Threads that compute; fewer than configured beside other programs.',
    ({ estimates }) => estimates.nComputeThreads,
  ],
  [
    'compute_poll_seconds',
    'How long a compute thread polls for the others before it sleeps: short beside other programs.',
    ({ estimates }) => estimates.computePollUs / 1e6,
  ],
  [
    'compute_queued_ratio',
    'Share of the time for which compute threads were ready to run and had no core.',
    ({ estimates }) => estimates.computeQueuedShare,
  ],
  ['estimated_kv_copy_bytes_per_second', 'Copies of KV states in memory.', ({ estimates }) => estimates.kvCopyBytesPerMs * 1000],
  [
    'estimated_kv_disk_read_bytes_per_second',
    'Reads of saved KV states from disk.',
    ({ estimates }) => estimates.kvDiskBytesPerMs * 1000,
  ],
  [
    'draft_allowance_seconds',
    'Decoding time that speculative decoding may still lose; without any, nothing is drafted.',
    ({ estimates }) => estimates.draftAllowanceMs / 1000,
  ],
  [
    'estimated_service_rate',
    'Requests that the engine completes in a second when it is full.',
    ({ jobsPerSecond }) => jobsPerSecond,
  ],
];

const embedderTable: readonly [name: string, help: string, read: (stats: EmbedderStats) => number][] = [
  ['embedding_queued_requests', 'Requests for embeddings or scores that wait or are computed.', ({ nQueued }) => nQueued],
  ['embedding_queued_tokens', 'Tokens of those requests.', ({ nQueuedTokens }) => nQueuedTokens],
  ['estimated_embedding_token_seconds', 'One token of the last batch of texts.', ({ tokenMs }) => tokenMs / 1000],
  [
    'estimated_embedding_service_rate',
    'Requests for embeddings or scores that are completed in a second when more wait.',
    ({ requestsPerSecond }) => requestsPerSecond,
  ],
];

interface ReadGauge<Stats> {
  family: Family<Gauge>;
  read: (stats: Stats) => number;
}

export class EstimateMetrics {
  readonly #gauges: readonly ReadGauge<EngineStats>[];
  readonly #embedderGauges: readonly ReadGauge<EmbedderStats>[];
  readonly #acceptance: Family<Gauge>;

  constructor(registry: MetricsRegistry) {
    const gauge = (name: string, help: string) => registry.gauge(`svc_inference_${name}`, help, ['model']);
    this.#gauges = table.map(([name, help, read]) => ({ family: gauge(name, help), read }));
    this.#embedderGauges = embedderTable.map(([name, help, read]) => ({ family: gauge(name, help), read }));
    this.#acceptance = registry.gauge(
      'svc_inference_estimated_draft_acceptance',
      'Share of drafted tokens that turn out right; kind is the length of the repetition that they were found by, or the draft model.',
      ['model', 'kind'],
    );
  }

  observe(model: string, stats: EngineStats): void {
    for (const { family, read } of this.#gauges) family.with({ model }).set(read(stats));
    const acceptance = Object.entries(stats.estimates.draftAcceptance) as [DraftKind, number][];
    for (const [kind, share] of acceptance) this.#acceptance.with({ model, kind }).set(share);
  }

  observeEmbedder(model: string, stats: EmbedderStats): void {
    for (const { family, read } of this.#embedderGauges) family.with({ model }).set(read(stats));
  }
}
