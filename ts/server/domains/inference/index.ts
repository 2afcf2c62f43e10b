/** The door of the inference room: chat, embeddings, ranking, tokens and models over one engine. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineOptions } from '../../native/llama.ts';
import type { Route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log/log.ts';
import type { MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { InferenceBackend } from './backend.ts';
import { Inspector } from './local/inspector.ts';
import { LocalBackend, type LocalOptions } from './local/local-backend.ts';
import { llamaDoor, type NativeDoor } from './local/native-door.ts';
import { defaultTableLimits } from './local/table-limits.ts';
import { InferenceMetrics } from './metrics.ts';
import type { ModelSource } from './model-source.ts';
import { inferenceRoutes } from './routes.ts';
import { InferenceService } from './service.ts';

export type {
  CallOptions,
  CompletionRequest,
  CompletionSink,
  InferenceBackend,
  ModelCard,
  ModelState,
  RunningCompletion,
} from './backend.ts';
export type { ModelKind, ModelSource, StoredModel } from './model-source.ts';

export interface InferenceConfig {
  /** Id of the model that is loaded at the start and never unloaded to make room. */
  defaultModel?: string;
  maxLoadedModels?: number;
  /** Weights, caches and buffers of all loaded models together, bytes. */
  maxLoadedBytes?: number;
  /** How long a request waits for a model to load, milliseconds. */
  loadWaitMs?: number;
  /** Longest time for a completion whose client names no limit, milliseconds; absent for none. */
  requestTimeoutMs?: number;
  engine?: EngineOptions;
  load?: LocalOptions['load'];
}

export interface InferenceDeps {
  config: InferenceConfig;
  source: ModelSource;
  /** Inspection verdicts are kept here. */
  dataDir: string;
  metrics: MetricsRegistry;
  log: Log;
  /** Version of the server, for system_fingerprint. */
  version: string;
  /** Backends beside the local one, for example cloud providers and other nodes. */
  backends?: readonly InferenceBackend[];
  /** The native engine; tests put another behind it. */
  door?: NativeDoor;
  /** Judges model files; tests put another in place. */
  inspector?: Inspector;
}

export interface InferenceHealth {
  /** `available`, or the code of what keeps local models from running. */
  local_models: string;
  reason?: string;
  default_model?: string;
  default_model_state?: string;
  models_loaded: number;
}

export interface Inference {
  routes: Route[];
  /** Loads the default model; resolves when it is ready, or when it failed, which the log and health() tell. */
  start(): Promise<void>;
  /** Ends all work and frees all models. */
  close(): Promise<void>;
  health(): Promise<InferenceHealth>;
  /** False while the default model is still on its way. */
  ready(): boolean;
  service: InferenceService;
}

export function create(deps: InferenceDeps): Inference {
  const { config, source, log } = deps;
  const inspector = deps.inspector ?? new Inspector(join(deps.dataDir, 'inspected-models.json'));
  const onFault = (error: unknown) => log.error('an answer could not be handed over', { error });
  const local = new LocalBackend(deps.door ?? llamaDoor, source, inspector, { ...localOptions(config), onFault });
  const metrics = new InferenceMetrics(deps.metrics);
  const service = new InferenceService({
    backends: [local, ...(deps.backends ?? [])],
    defaultModel: config.defaultModel,
    metrics,
    requestTimeoutMs: config.requestTimeoutMs,
  });
  deps.metrics.onCollect(() => {
    for (const { id, model } of local.engines()) if (model.openEngine) metrics.observe(id, model.openEngine.stats());
  });
  const onLoadError = (id: string, error: unknown) =>
    log.error('a model could not be loaded', { model: id, error: String(error) });
  let isReady = false;
  return {
    routes: inferenceRoutes({ service, control: local, source, onLoadError }, `svc-${deps.version}`),
    start: async () => {
      await mkdir(deps.dataDir, { recursive: true });
      await loadDefault(local, config.defaultModel, onLoadError);
      isReady = true;
      // Inspects the other models now, so that the first request need not wait for it.
      local.models().catch((error: unknown) => log.warn('the models could not be listed', { error: String(error) }));
    },
    close: () => local.close(),
    health: () => readHealth(local, config.defaultModel),
    ready: () => isReady,
    service,
  };
}

function localOptions(config: InferenceConfig): LocalOptions {
  const limits = defaultTableLimits();
  return {
    ...(config.defaultModel === undefined ? {} : { defaultModel: config.defaultModel }),
    limits: {
      maxModels: config.maxLoadedModels ?? limits.maxModels,
      maxBytes: config.maxLoadedBytes ?? limits.maxBytes,
      loadWaitMs: config.loadWaitMs ?? limits.loadWaitMs,
    },
    engine: config.engine ?? {},
    load: config.load ?? {},
  };
}

async function loadDefault(
  local: LocalBackend,
  id: string | undefined,
  onError: (id: string, error: unknown) => void,
): Promise<void> {
  if (id === undefined || local.outage()) return;
  await local.load(id, new AbortController().signal, Number.POSITIVE_INFINITY).catch((error: unknown) => onError(id, error));
}

async function readHealth(local: LocalBackend, defaultModel: string | undefined): Promise<InferenceHealth> {
  const outage = local.outage();
  const detail = defaultModel === undefined ? undefined : await local.detail(defaultModel);
  return {
    local_models: outage?.code ?? 'available',
    ...(outage ? { reason: outage.message } : {}),
    ...(defaultModel === undefined ? {} : { default_model: defaultModel, default_model_state: detail?.card.state ?? 'missing' }),
    models_loaded: [...local.engines()].length,
  };
}
