/** The inference settings in the engine's words; what is automatic is left out. */
import type { InferenceConfig } from './domains/inference/index.ts';
import type { ConfigValues } from './platform/config/settings.ts';

export function engineOptions(values: ConfigValues): InferenceConfig {
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
  const kvUnified = values['inference.kv_unified'];
  return {
    ...(maxLoadedModels === 0 ? {} : { maxLoadedModels }),
    ...(timeoutSeconds === 0 ? {} : { requestTimeoutMs: timeoutSeconds * 1000 }),
    load: { nGpuLayers: values['inference.gpu_layers'] },
    engine: {
      ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== 0)),
      flashAttention: values['inference.flash_attention'],
      cacheTypeK: values['inference.cache_type_k'],
      cacheTypeV: values['inference.cache_type_v'],
      ...(kvUnified === 'auto' ? {} : { kvUnified: kvUnified === 'on' }),
    },
  };
}
