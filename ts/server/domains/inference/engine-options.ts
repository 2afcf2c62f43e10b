/** The inference settings in the engine's words; what is automatic is left out. */
import { join } from 'node:path';
import { listOf, type SettingValues } from '../../platform/config/setting.ts';
import { hostMemory } from '../../platform/host-memory.ts';
import type { InferenceConfig } from './inference-config.ts';
import type { inferenceSettings } from './settings.ts';

type ConfigValues = SettingValues<typeof inferenceSettings>;

/** `dataDir` is where saved KV states go. */
export function engineOptions(values: ConfigValues, dataDir: string): InferenceConfig {
  const numbers = {
    nCtx: values['inference.ctx'],
    nParallel: values['inference.parallel'],
    nThreads: values['inference.threads'],
    nThreadsBatch: values['inference.threads'],
    nBatch: values['inference.batch'],
    nUbatch: values['inference.ubatch'],
    maxQueuedJobs: values['inference.max_queued_jobs'],
    maxQueuedTokens: values['inference.max_queued_tokens'],
    maxQueueMs: values['inference.max_queue_seconds'] * 1000,
  };
  const timeoutSeconds = values['inference.request_timeout_seconds'];
  const maxLoadedModels = values['inference.max_loaded_models'];
  const tenantTokensPerMinute = values['inference.tenant_tokens_per_minute'];
  const kvUnified = values['inference.kv_unified'];
  return {
    ...(maxLoadedModels === 0 ? {} : { maxLoadedModels }),
    ...memoryOptions(values),
    ...(tenantTokensPerMinute === 0 ? {} : { tenantTokensPerMinute }),
    pinnedModels: listOf(values['inference.pinned_models']),
    ...(timeoutSeconds === 0 ? {} : { requestTimeoutMs: timeoutSeconds * 1000 }),
    draftModels: draftModels(values['inference.draft_model']),
    load: { nGpuLayers: values['inference.gpu_layers'], mlock: values['inference.mlock'] },
    engine: {
      ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== 0)),
      hostMemoryBytes: hostMemory(),
      speculation: values['inference.speculation'],
      nDraftMax: values['inference.draft_max'],
      flashAttention: values['inference.flash_attention'],
      cacheTypeK: values['inference.cache_type_k'],
      cacheTypeV: values['inference.cache_type_v'],
      kvOffloadMemoryBytes: values['inference.kv_offload_memory_bytes'],
      kvOffloadDiskBytes: values['inference.kv_offload_disk_bytes'],
      kvOffloadFolder: join(dataDir, 'cache', 'kv'),
      ...(kvUnified === 'auto' ? {} : { kvUnified: kvUnified === 'on' }),
    },
  };
}

function memoryOptions(values: ConfigValues): Pick<InferenceConfig, 'maxLoadedBytes' | 'maxDeviceBytes' | 'idleUnloadMs'> {
  const maxLoadedBytes = values['inference.max_loaded_bytes'];
  const maxDeviceBytes = values['inference.max_device_bytes'];
  const idleSeconds = values['inference.idle_unload_seconds'];
  return {
    ...(maxLoadedBytes === 0 ? {} : { maxLoadedBytes }),
    ...(maxDeviceBytes === 0 ? {} : { maxDeviceBytes }),
    ...(idleSeconds === 0 ? {} : { idleUnloadMs: idleSeconds * 1000 }),
  };
}

/** `MODEL=DRAFT, MODEL=DRAFT` */
function draftModels(text: string): ReadonlyMap<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return new Map(pairs.map((pair) => pair.split('=').map((name) => name.trim()) as [string, string]));
}
