/** Wires the inference module. */

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeConfinementGap } from '../../native/confinement.ts';
import type { Route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log/log.ts';
import type { HealthReport, Module, NotReady } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { type MeteringApi, metering } from '../metering/index.ts';
import { type SecurityApi, security } from '../security/index.ts';
import { type ModelRouteDeps, modelRoutes } from './api/model-routes.ts';
import { type ProbeRouteDeps, probeRoute } from './api/probe-route.ts';
import { type PullRouteDeps, pullRoutes } from './api/pull-routes.ts';
import { DefaultModel } from './default-model.ts';
import { engineOptions } from './engine-options.ts';
import type { InferenceConfig } from './inference-config.ts';
import {
  findInCatalogue,
  findOwnFile,
  type LibraryEntry,
  type NodeFiles,
  type OwnFile,
  type WantedFile,
} from './library/index.ts';
import { devicesOf, gpuHealth, gpuReasons, warnOfUnusedDevices } from './local/gpu-report.ts';
import { InspectionJobs } from './local/inspection/inspection-jobs.ts';
import { Inspector } from './local/inspection/inspector.ts';
import { LocalBackend } from './local/local-backend.ts';
import type { LocalOptions } from './local/local-options.ts';
import { sumOf, totalBytes } from './local/memory-use.ts';
import type { RegistryObserver } from './local/model-registry.ts';
import { llamaBinding, type NativeBinding } from './local/native-binding.ts';
import { defaultDeviceBytes, defaultRegistryLimits } from './local/registry-limits.ts';
import { MediaDecoder } from './media/media-decoder.ts';
import { observeMedia } from './media/media-metrics.ts';
import { ModelAnnouncements } from './model-announcements.ts';
import { openModelLibrary } from './model-folders.ts';
import type { ModelSource } from './models/model-source.ts';
import { ModelProbe } from './probe/model-probe.ts';
import { ProbeJobs } from './probe/probe-jobs.ts';
import { ProbeResults } from './probe/probe-results.ts';
import { createPulls } from './pulls/create-pulls.ts';
import { InferenceService } from './service.ts';
import type { inferenceSettings } from './settings.ts';
import { type SplitModel, splitModels, withoutSplit } from './split-models.ts';
import { GpuMetrics } from './usage/gpu-metrics.ts';
import { InferenceMetrics } from './usage/metrics.ts';

type Context = ModuleContext<typeof inferenceSettings>;

/** The parts that tests put in place of the real ones. */
export interface InferenceOverrides {
  binding?: NativeBinding;
  inspector?: Inspector;
  source?: ModelSource;
  /** The environment of the process, for HF_TOKEN and HF_ENDPOINT. */
  env?: NodeJS.ProcessEnv;
  metering?: MeteringApi;
  security?: SecurityApi;
}

export interface InferenceApi {
  readonly service: InferenceService;
  /** The files of speech models, which the module media runs. */
  speechFiles(): Promise<SpeechFile[]>;
  /** Looks at a voice's model and projector in a confined process: what is wrong with them, or the memory that they will take. */
  inspectVoice(path: string, projectorPath: string): Promise<{ reason: string } | { hostBytes: number }>;
  /** Files of models, between the nodes of a cluster. */
  readonly modelFiles: {
    find(wanted: WantedFile, signal: AbortSignal): Promise<OwnFile | undefined>;
    /** Whom pulls ask before they go to the internet. */
    connect(nodes: NodeFiles): void;
  };
  /** The models that the module cluster serves over several nodes. */
  readonly split: { readonly models: readonly SplitModel[]; readonly programs: string; readonly port: number };
}

/** A voice is loaded with about this (native/llama/speech/synthesizer.cpp). */
const VOICE_CONTEXT = { nCtx: 4096, nParallel: 1 } as const;

interface SpeechFile {
  id: string;
  path: string;
  sizeBytes: number;
  license?: string;
  /** Unix seconds. */
  createdAt: number;
}

export function createInference(context: Context, overrides: InferenceOverrides): Module<InferenceApi> {
  const { settings, node, log, tenants, uses } = context;
  const config = engineOptions(settings, node.dataDir);
  const library = openModelLibrary(settings, node.installRoot);
  const files = overrides.source ?? library;
  const split = splitModels(settings['inference.split'], files);
  const source = withoutSplit(files, split);
  const binding = overrides.binding ?? llamaBinding;
  const inspector = overrides.inspector ?? new Inspector(join(node.dataDir, 'inspected-models.json'));
  const metrics = new InferenceMetrics(context.metrics);
  // The default model is loaded beside the start of everything else; what it has to tell waits until there is a database.
  const databaseOpen = Promise.withResolvers<void>();
  const gpus = new GpuMetrics(context.metrics, () => devicesOf(binding));
  const limits = registryLimits(config);
  const media = new MediaDecoder();
  observeMedia(context.metrics, media);
  const probed = new ProbeResults(node.dataDir);
  const local = new LocalBackend(binding, source, inspector, {
    ...localOptions(config, limits),
    events: {
      onFault: (error) => log.error('an answer could not be handed over', { error }),
      onNotice: ({ message }) => log.warn(message),
    },
    observer: observeMemory(metrics, log, new ModelAnnouncements(context.events, log, databaseOpen.promise)),
    probed,
    announce: (stored) => void databaseOpen.promise.then(() => inspections.announce(stored)),
    media,
  });
  const { jobs } = context;
  const onLoadError = (id: string, error: unknown) =>
    log.error('a model could not be loaded', { model: id, error: String(error) });
  const defaultModel = new DefaultModel({ settings, source, local, onLoadError, log });
  const pulls = createPulls(settings, overrides.env ?? process.env, context, () => {
    local.rescan();
    void defaultModel.reconsider();
  });
  const probe = new ModelProbe({ backend: local, isBusy: () => isBusy(local) });
  const probes = new ProbeJobs({
    jobs,
    source,
    probe,
    results: probed, // An engine that is put in place of the real one does what its test asks, and nothing else.
    isAutomatic: settings['inference.probe_models'] && overrides.binding === undefined,
    log,
  });
  const inspections = new InspectionJobs({
    jobs,
    inspector,
    inspect: (id) => local.inspect(id),
    onUsable: (id) => {
      void probes.consider(id);
      void defaultModel.reconsider();
    },
    log,
  });
  /** Opens the engine and begins to load the default model, which goes on behind it. */
  const begin = async (): Promise<void> => {
    await emptyOffloadFolder(config.engine?.kvOffloadFolder, log);
    const devices = devicesOf(binding);
    limits.memory.deviceBytes = config.maxDeviceBytes ?? defaultDeviceBytes({ devices });
    gpus.start(devices);
    warnOfUnusedDevices(binding, log);
    await defaultModel.choose();
    local.open();
    removeLocal ??= service.addBackend(local);
    void defaultModel.load().then(() => {
      isReady = true;
      // Inspects the other models now, so that the first request need not wait for it.
      local.models().catch((error: unknown) => log.warn('the models could not be listed', { error: String(error) }));
      if (overrides.inspector === undefined) void warnOfConfinementGap(log);
    });
  };
  let begun: Promise<void> | undefined;
  let removeLocal: (() => void) | undefined;
  let isReady = false;
  const service = new InferenceService({
    defaultModel,
    metrics,
    metering: overrides.metering ?? context.use(metering),
    allowsPriority: (tenant) => tenants.allowsPriority(tenant),
    uses,
    requestTimeoutMs: config.requestTimeoutMs,
  });
  context.metrics.onCollect(() => {
    for (const { id, model } of local.engines()) {
      if (model.openEngine) metrics.observe(id, model.openEngine.stats());
      if (model.openEmbedder) metrics.observeEmbedder(id, model.openEmbedder.stats());
    }
  });
  return {
    api: {
      service,
      speechFiles: async () => (await library.entries()).flatMap(speechFile),
      inspectVoice: async (path, projectorPath) => {
        const result = await inspector.inspect(path, { engine: VOICE_CONTEXT, load: { projectorPath } });
        if (!result.usable) return { reason: result.reason };
        const { weights, extras, engine } = result.memory ?? {};
        return { hostBytes: sumOf(weights, extras, engine).hostBytes };
      },
      modelFiles: {
        find: (wanted, signal) => findOwnFile(library, probed, wanted, signal),
        connect: (nodes) => pulls.connect(nodes),
      },
      split: { models: split, programs: settings['inference.split_programs'], port: settings['inference.split_port'] },
    },
    routes: inferenceRoutes({
      nodeName: context.node.name,
      service,
      security: overrides.security ?? context.use(security),
      control: local,
      source,
      library,
      pulls,
      probes,
      jobs,
      onLoadError,
    }),
    prepare: () => {
      begun = begin();
      begun.catch(() => undefined);
    },
    start: async () => {
      await (begun ?? begin());
      begun = undefined;
      databaseOpen.resolve();
      pulls.start();
      inspections.start();
      probes.start();
    },
    stop: async () => {
      await begun?.catch(() => undefined);
      begun = undefined;
      await Promise.all([pulls.stop(), inspections.stop(), probes.stop()]);
      removeLocal?.();
      removeLocal = undefined;
      await local.close();
    },
    health: () => readHealth(local, defaultModel, binding),
    ready: () => (isReady ? undefined : modelLoading),
  };
}

/** Nothing for other files, and for those that the reader refuses. */
function speechFile({ name, paths: [path], sizeBytes, modifiedMs, facts, sidecar, problem }: LibraryEntry): SpeechFile[] {
  if (facts?.kind !== 'speech' || problem !== undefined || path === undefined) return [];
  const license = sidecar?.license ?? findInCatalogue(name)?.license;
  const createdAt = Math.floor(modifiedMs / 1000);
  return [{ id: name, path, sizeBytes, createdAt, ...(license !== undefined && { license }) }];
}

function isBusy(local: LocalBackend): boolean {
  const stats = [...local.engines()].flatMap(({ model }) => model.openEngine?.stats() ?? []);
  return stats.some(({ nQueued, nActive }) => nQueued + nActive > 0);
}

const modelLoading: NotReady = { code: 'model_loading', detail: 'The default model is being loaded.' };

async function warnOfConfinementGap(log: Log): Promise<void> {
  const gap = await describeConfinementGap();
  if (gap !== undefined) log.warn(gap);
}

function registryLimits(config: InferenceConfig): LocalOptions['limits'] {
  const limits = defaultRegistryLimits();
  return {
    ...limits,
    maxModels: config.maxLoadedModels ?? limits.maxModels,
    // The devices are known once the engine is loaded, which start() does.
    memory: { hostBytes: config.maxLoadedBytes ?? limits.memory.hostBytes, deviceBytes: 0 },
    loadWaitMs: config.loadWaitMs ?? limits.loadWaitMs,
    idleUnloadMs: config.idleUnloadMs ?? limits.idleUnloadMs,
    // 0 is automatic, here as in the engine.
    loadQueue: {
      maxRequests: config.engine?.maxQueuedJobs || limits.loadQueue.maxRequests,
      maxTokens: config.engine?.maxQueuedTokens || limits.loadQueue.maxTokens,
    },
  };
}

function localOptions(config: InferenceConfig, limits: LocalOptions['limits']): LocalOptions {
  return {
    pinned: config.pinnedModels ?? [],
    limits,
    engine: config.engine ?? {},
    ...(config.draftModels ? { draftModels: config.draftModels } : {}),
    ...(config.models ? { models: config.models } : {}),
    load: config.load ?? {},
    isGpuRequired: config.isGpuRequired === true,
  };
}

const worthAWarning = 0.05;

function observeMemory(metrics: InferenceMetrics, log: Log, announcements: ModelAnnouncements): RegistryObserver {
  return {
    loaded: (id, { predicted, used }) => {
      const [foretold, real] = [totalBytes(predicted), totalBytes(used)];
      metrics.loaded(id, foretold, real);
      announcements.loaded(id);
      const isOff = Math.abs(real - foretold) > worthAWarning * real;
      const facts = { model: id, predicted_bytes: foretold, used_bytes: real };
      if (isOff) log.warn('a model takes other memory than was predicted', facts);
      else log.info('a model was loaded', facts);
    },
    unloaded: (id) => {
      metrics.unloaded(id);
      announcements.unloaded(id);
    },
    failed: (id, error) => log.error('a model is unloaded, since it cannot go on', { model: id, error: error.message }),
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

async function readHealth(local: LocalBackend, defaultModel: DefaultModel, binding: NativeBinding): Promise<HealthReport> {
  const unavailable = local.unavailableReason();
  const { id } = defaultModel;
  const modelState = id === undefined ? undefined : await local.state(id);
  const failure = await defaultModel.findFailure();
  const gpu = unavailable ? undefined : gpuHealth(binding);
  const state = {
    /** `available`, or the code of what keeps local models from running. */
    local_models: unavailable?.code ?? 'available',
    ...(unavailable ? { reason: unavailable.message } : {}),
    ...(id === undefined ? {} : { default_model: id, default_model_state: modelState ?? 'missing' }),
    ...(failure === undefined ? {} : { default_model_error: failure }),
    models_loaded: [...local.engines()].length,
    ...(gpu === undefined ? {} : { gpu }),
  };
  if (unavailable) return { state, reasons: [{ code: unavailable.code, detail: unavailable.message }] };
  const reasons = failure === undefined ? [] : [{ code: 'default_model_failed', detail: failure }];
  return { state, reasons: [...reasons, ...gpuReasons(gpu)] };
}

/** Every route of the module. */
export function inferenceRoutes(deps: ModelRouteDeps & PullRouteDeps & ProbeRouteDeps): Route[] {
  return [...modelRoutes(deps), ...pullRoutes(deps), probeRoute(deps)];
}
