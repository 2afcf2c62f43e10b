/** The metrics of inference for Prometheus. The label `model` has installed models' ids only, so its set is bounded. */
import type { EmbedderStats, EngineStats, JobUsage, ProviderUse } from '../../../native/llama-shapes.ts';
import type { Counter, Family, Gauge, Histogram } from '../../../platform/metrics/metrics.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { EstimateMetrics } from './estimate-metrics.ts';

/** Seconds; inter-token times reach from a tiny model on a GPU to a large one on a small CPU. */
const tokenBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2.5];

/** The kind of work that a model is asked to do; names of OpenTelemetry's gen_ai.operation.name where it has one. */
export type Operation = 'chat' | 'embeddings' | 'rerank' | 'tokenize';

export type TokenUsage = Pick<
  JobUsage,
  'nPromptTokens' | 'nCachedTokens' | 'nCompletionTokens' | 'nDraftedTokens' | 'nAcceptedTokens' | 'provider'
>;

/** Usage of work that has prompts alone, by the tokens of each. */
export function promptUsage(nTokens: readonly number[], provider?: ProviderUse): TokenUsage {
  const nPromptTokens = nTokens.reduce((sum, count) => sum + count, 0);
  const usage = { nPromptTokens, nCachedTokens: 0, nCompletionTokens: 0, nDraftedTokens: 0, nAcceptedTokens: 0 };
  return provider === undefined ? usage : { ...usage, provider };
}

/** The series of one model and one operation, looked up once for each request. */
export interface OperationMetrics {
  firstToken(seconds: number): void;
  interToken(seconds: number): void;
  completed(usage: TokenUsage): void;
  failed(code: string): void;
}

export class InferenceMetrics {
  readonly #firstToken: Family<Histogram>;
  readonly #interToken: Family<Histogram>;
  readonly #tokens: Family<Counter>;
  readonly #drafted: Family<Counter>;
  readonly #requests: Family<Counter>;
  readonly #memory: Family<Gauge>;
  readonly #loads: Family<Counter>;
  readonly #unloads: Family<Counter>;
  readonly #gauges: Record<
    'queued' | 'queuedTokens' | 'active' | 'kvUsed' | 'kvCells' | 'offloadMemory' | 'offloadDisk' | 'lastStep',
    Family<Gauge>
  >;
  readonly #restores: Family<Counter>;
  readonly #restoredTokens: Family<Counter>;
  readonly #lateRows: Family<Counter>;
  readonly #estimates: EstimateMetrics;
  readonly #operations = new Map<string, OperationMetrics>();

  constructor(registry: MetricsRegistry) {
    this.#firstToken = registry.histogram('svc_inference_time_to_first_token_seconds', 'From request to first token.', ['model']);
    this.#interToken = registry.histogram(
      'svc_inference_inter_token_seconds',
      'Between the tokens of a stream.',
      ['model'],
      tokenBuckets,
    );
    this.#tokens = registry.counter('svc_inference_tokens_total', 'Tokens by kind: prompt, cached (of the prompt), completion.', [
      'model',
      'kind',
    ]);
    this.#drafted = registry.counter(
      'svc_inference_drafted_tokens_total',
      'Tokens verified by speculative decoding; outcome is accepted or rejected.',
      ['model', 'outcome'],
    );
    this.#requests = registry.counter(
      'svc_inference_requests_total',
      'Ended work; operation is chat, embeddings, rerank or tokenize, outcome is ok or an error code.',
      ['model', 'operation', 'outcome'],
    );
    this.#memory = registry.gauge('svc_inference_model_memory_bytes', 'Memory of loaded models; kind is predicted or used.', [
      'model',
      'kind',
    ]);
    this.#loads = registry.counter('svc_inference_model_loads_total', 'Models loaded into memory.', ['model']);
    this.#unloads = registry.counter('svc_inference_model_unloads_total', 'Models that left memory.', ['model']);
    this.#restores = registry.counter('svc_inference_kv_offload_restores_total', 'Saved KV states that were brought back.', [
      'model',
    ]);
    this.#restoredTokens = registry.counter(
      'svc_inference_kv_offload_restored_tokens_total',
      'Tokens that came back with them.',
      ['model'],
    );
    this.#lateRows = registry.counter(
      'svc_inference_late_rows_total',
      'Tokens chosen outside of decode steps, as their grammar takes longer than a step has time for.',
      ['model'],
    );
    this.#estimates = new EstimateMetrics(registry);
    const gauge = (name: string, help: string) => registry.gauge(`svc_inference_${name}`, help, ['model']);
    this.#gauges = {
      queued: gauge('queued_requests', 'Requests that wait for the engine.'),
      queuedTokens: gauge('queued_tokens', 'Prompt tokens that wait for the engine.'),
      active: gauge('active_sequences', 'Sequences that are being decoded.'),
      kvUsed: gauge('kv_cells_used', 'KV cache cells in use.'),
      kvCells: gauge('kv_cells', 'KV cache cells.'),
      offloadMemory: gauge('kv_offload_memory_bytes', 'Saved KV states in memory.'),
      offloadDisk: gauge('kv_offload_disk_bytes', 'Saved KV states on disk.'),
      lastStep: gauge('last_step_seconds', 'Duration of the last decode step.'),
    };
  }

  of(model: string, operation: Operation): OperationMetrics {
    const key = `${operation} ${model}`;
    const known = this.#operations.get(key);
    if (known) return known;
    const made = this.#make(model, operation);
    this.#operations.set(key, made);
    return made;
  }

  /** Sets the gauges of a loaded model. */
  observe(model: string, stats: EngineStats): void {
    this.#gauges.queued.with({ model }).set(stats.nQueued);
    this.#gauges.queuedTokens.with({ model }).set(stats.nQueuedTokens);
    this.#gauges.active.with({ model }).set(stats.nActive);
    this.#gauges.kvUsed.with({ model }).set(stats.kvCellsUsed);
    this.#gauges.kvCells.with({ model }).set(stats.kvCells);
    this.#gauges.offloadMemory.with({ model }).set(stats.offloadMemoryBytes);
    this.#gauges.offloadDisk.with({ model }).set(stats.offloadDiskBytes);
    this.#restores.with({ model }).value = stats.offloadHitsTotal;
    this.#restoredTokens.with({ model }).value = stats.restoredTokensTotal;
    this.#lateRows.with({ model }).value = stats.lateRowsTotal;
    this.#gauges.lastStep.with({ model }).set(stats.lastStepMs / 1000);
    this.#estimates.observe(model, stats);
  }

  /** The same of what computes its embeddings and scores. */
  observeEmbedder(model: string, stats: EmbedderStats): void {
    this.#estimates.observeEmbedder(model, stats);
  }

  loaded(model: string, predictedBytes: number, usedBytes: number): void {
    this.#loads.with({ model }).add();
    this.#memory.with({ model, kind: 'predicted' }).set(predictedBytes);
    this.#memory.with({ model, kind: 'used' }).set(usedBytes);
  }

  unloaded(model: string): void {
    this.#unloads.with({ model }).add();
    for (const kind of ['predicted', 'used']) this.#memory.with({ model, kind }).set(0);
  }

  #make(model: string, operation: Operation): OperationMetrics {
    const firstToken = this.#firstToken.with({ model });
    const interToken = this.#interToken.with({ model });
    const tokens = (kind: string) => this.#tokens.with({ model, kind });
    const [prompt, cached, completion] = [tokens('prompt'), tokens('cached'), tokens('completion')];
    const [accepted, rejected] = ['accepted', 'rejected'].map((outcome) => this.#drafted.with({ model, outcome })) as [
      Counter,
      Counter,
    ];
    return {
      firstToken: (seconds) => firstToken.observe(seconds),
      interToken: (seconds) => interToken.observe(seconds),
      completed: (usage) => {
        prompt.add(usage.nPromptTokens);
        cached.add(usage.nCachedTokens);
        completion.add(usage.nCompletionTokens);
        accepted.add(usage.nAcceptedTokens);
        rejected.add(usage.nDraftedTokens - usage.nAcceptedTokens);
        this.#requests.with({ model, operation, outcome: 'ok' }).add();
      },
      failed: (code) => this.#requests.with({ model, operation, outcome: code }).add(),
    };
  }
}
