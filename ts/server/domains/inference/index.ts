/** The public interface of the inference module: chat, embeddings, ranking, tokens and models over one engine. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineOptions } from '../../native/llama.ts';
import type { Route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log/log.ts';
import type { MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { InferenceBackend } from './backend.ts';
import { clientError } from './errors.ts';
import { Inspector } from './local/inspector.ts';
import { LocalBackend, type LocalOptions } from './local/local-backend.ts';
import { totalBytes } from './local/memory-use.ts';
import type { RegistryObserver } from './local/model-registry.ts';
import { llamaBinding, type NativeBinding } from './local/native-binding.ts';
import { defaultDeviceBytes, defaultRegistryLimits } from './local/registry-limits.ts';
import { InferenceMetrics } from './metrics.ts';
import type { ModelSource } from './model-source.ts';
import { inferenceRoutes } from './routes.ts';
import { InferenceService } from './service.ts';
import { TokenBudgets } from './token-budgets.ts';

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
  /** Other models that are never unloaded to make room. */
  pinnedModels?: readonly string[];
  maxLoadedModels?: number;
  /** Weights, caches and buffers of all loaded models together, bytes of main memory. */
  maxLoadedBytes?: number;
  /** The same in the memory of devices. */
  maxDeviceBytes?: number;
  /** A model that nobody used for so long is unloaded, milliseconds; absent: never. */
  idleUnloadMs?: number;
  /** How long a request waits for a model to load, milliseconds. */
  loadWaitMs?: number;
  /** Tokens a minute of each tenant that has no figure of its own; absent: no limit. */
  tenantTokensPerMinute?: number;
  /** Longest time for a completion whose client names no limit, milliseconds; absent for none. */
  requestTimeoutMs?: number;
  engine?: EngineOptions;
  /** Models that draft for others, by the id of the model that they draft for. */
  draftModels?: ReadonlyMap<string, string>;
  load?: LocalOptions['load'];
}

export interface TenantRules {
  /** Undefined for the usual ones. */
  tokensPerMinute(tenant: string): number | undefined;
  /** Whether its requests may go before those of others. */
  allowsPriority(tenant: string): boolean;
}

export interface InferenceDeps {
  config: InferenceConfig;
  source: ModelSource;
  /** Inspection inspection results are kept here. */
  dataDir: string;
  metrics: MetricsRegistry;
  log: Log;
  /** Version of the server, for system_fingerprint. */
  version: string;
  /** Absent: all tenants have the usual tokens a minute, and may use priority. */
  tenants?: TenantRules;
  /** Backends beside the local one, for example cloud providers and other nodes. */
  backends?: readonly InferenceBackend[];
  /** The native engine; tests put another behind it. */
  binding?: NativeBinding;
  /** Judges model files; tests put another in place. */
  inspector?: Inspector;
}

export interface InferenceHealth {
  /** `available`, or the code of what keeps local models from running. */
  local_models: string;
  reason?: string;
  default_model?: string;
  default_model_state?: string;
  /** Why the default model could not be loaded at the start. */
  default_model_error?: string;
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
  const metrics = new InferenceMetrics(deps.metrics);
  const binding = deps.binding ?? llamaBinding;
  const local = new LocalBackend(binding, source, inspector, {
    ...localOptions(config, binding),
    events: {
      onFault: (error) => log.error('an answer could not be handed over', { error }),
      onNotice: ({ message }) => log.warn(message),
    },
    observer: observeMemory(metrics, log),
  });
  const service = new InferenceService({
    backends: [local, ...(deps.backends ?? [])],
    defaultModel: config.defaultModel,
    metrics,
    budgets: new TokenBudgets((tenant) => deps.tenants?.tokensPerMinute(tenant) ?? config.tenantTokensPerMinute),
    allowsPriority: (tenant) => deps.tenants?.allowsPriority(tenant) ?? true,
    requestTimeoutMs: config.requestTimeoutMs,
  });
  deps.metrics.onCollect(() => {
    for (const { id, model } of local.engines()) if (model.openEngine) metrics.observe(id, model.openEngine.stats());
  });
  const onLoadError = (id: string, error: unknown) =>
    log.error('a model could not be loaded', { model: id, error: String(error) });
  let defaultFailure: string | undefined;
  let isReady = false;
  return {
    routes: inferenceRoutes({ service, control: local, source, onLoadError }, `svc-${deps.version}`),
    start: async () => {
      await mkdir(deps.dataDir, { recursive: true });
      await emptyOffloadFolder(config.engine?.kvOffloadFolder, log);
      await loadDefault(local, config.defaultModel, (id, error) => {
        defaultFailure = clientError(error).message;
        onLoadError(id, error);
      });
      isReady = true;
      // Inspects the other models now, so that the first request need not wait for it.
      local.models().catch((error: unknown) => log.warn('the models could not be listed', { error: String(error) }));
    },
    close: () => local.close(),
    health: () => readHealth(local, config.defaultModel, defaultFailure),
    ready: () => isReady,
    service,
  };
}

function localOptions(config: InferenceConfig, binding: NativeBinding): LocalOptions {
  const limits = defaultRegistryLimits();
  const { defaultModel, pinnedModels = [] } = config;
  return {
    pinned: defaultModel === undefined ? pinnedModels : [defaultModel, ...pinnedModels],
    limits: {
      ...limits,
      maxModels: config.maxLoadedModels ?? limits.maxModels,
      memory: {
        hostBytes: config.maxLoadedBytes ?? limits.memory.hostBytes,
        deviceBytes: config.maxDeviceBytes ?? deviceBytes(binding),
      },
      loadWaitMs: config.loadWaitMs ?? limits.loadWaitMs,
      idleUnloadMs: config.idleUnloadMs ?? limits.idleUnloadMs,
      loadQueue: {
        maxRequests: config.engine?.maxQueuedJobs ?? limits.loadQueue.maxRequests,
        maxTokens: config.engine?.maxQueuedTokens ?? limits.loadQueue.maxTokens,
      },
    },
    engine: config.engine ?? {},
    ...(config.draftModels ? { draftModels: config.draftModels } : {}),
    load: config.load ?? {},
  };
}

function deviceBytes(binding: NativeBinding): number {
  try {
    return defaultDeviceBytes(binding.systemInfo());
  } catch {
    // Without an engine, which its unavailableReason explains, nothing is loaded.
    return 0;
  }
}

const worthAWarning = 0.05;

function observeMemory(metrics: InferenceMetrics, log: Log): RegistryObserver {
  return {
    loaded: (id, { predicted, used }) => {
      const [foretold, real] = [totalBytes(predicted), totalBytes(used)];
      metrics.loaded(id, foretold, real);
      const isOff = Math.abs(real - foretold) > worthAWarning * real;
      const facts = { model: id, predicted_bytes: foretold, used_bytes: real };
      if (isOff) log.warn('a model takes other memory than was predicted', facts);
      else log.info('a model was loaded', facts);
    },
    unloaded: (id) => metrics.unloaded(id),
  };
}

/** States that were saved by a process that is gone serve nobody. Their content is what tenants said: the folder is this user's alone. */
async function emptyOffloadFolder(folder: string | undefined, log: Log): Promise<void> {
  if (folder === undefined) return;
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    log.warn('evicted chats are kept in memory alone: the folder cannot be used', { folder, error: String(error) });
  }
}

async function loadDefault(
  local: LocalBackend,
  id: string | undefined,
  onError: (id: string, error: unknown) => void,
): Promise<void> {
  if (id === undefined || local.unavailableReason()) return;
  await local.load(id, new AbortController().signal, Number.POSITIVE_INFINITY).catch((error: unknown) => onError(id, error));
}

async function readHealth(
  local: LocalBackend,
  defaultModel: string | undefined,
  failure: string | undefined,
): Promise<InferenceHealth> {
  const unavailableReason = local.unavailableReason();
  const modelState = defaultModel === undefined ? undefined : await local.state(defaultModel);
  return {
    local_models: unavailableReason?.code ?? 'available',
    ...(unavailableReason ? { reason: unavailableReason.message } : {}),
    ...(defaultModel === undefined ? {} : { default_model: defaultModel, default_model_state: modelState ?? 'missing' }),
    ...(failure !== undefined && modelState !== 'loaded' ? { default_model_error: failure } : {}),
    models_loaded: [...local.engines()].length,
  };
}
