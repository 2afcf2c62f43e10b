/** The inference settings in the engine's words; what is automatic is left out. */
import { join } from 'node:path';
import { engineOptions as engineTable } from '../../native/options/engine-options.ts';
import { loadOptions } from '../../native/options/load-options.ts';
import { listOf, type SettingValues } from '../../platform/config/setting.ts';
import { hostMemory } from '../../platform/host-memory.ts';
import type { InferenceConfig } from './inference-config.ts';
import { type ModelOptions, optionsOfModels } from './model-sections.ts';
import { optionsFromSettings } from './option-settings.ts';
import type { inferenceSettings } from './settings.ts';

type ConfigValues = SettingValues<typeof inferenceSettings>;

/** `dataDir` is where saved KV states go. */
export function engineOptions(values: ConfigValues, dataDir: string): InferenceConfig {
  const models = optionsOfModels(values.models);
  const timeoutSeconds = values['inference.request_timeout_seconds'];
  const maxLoadedModels = values['inference.max_loaded_models'];
  return {
    ...(maxLoadedModels === 0 ? {} : { maxLoadedModels }),
    ...memoryOptions(values),
    pinnedModels: listOf(values['inference.pinned_models']),
    ...(timeoutSeconds === 0 ? {} : { requestTimeoutMs: timeoutSeconds * 1000 }),
    draftModels: new Map([...draftModels(values['inference.draft_model']), ...draftModelsOf(models)]),
    models,
    load: optionsFromSettings(loadOptions, values),
    engine: {
      ...optionsFromSettings(engineTable, values),
      maxQueueMs: values['inference.max_queue_seconds'] * 1000,
      hostMemoryBytes: hostMemory(),
      kvOffloadFolder: join(dataDir, 'cache', 'kv'),
    },
  };
}

/** Those that sections name; a section may also take a draft model away. */
function draftModelsOf(models: ReadonlyMap<string, ModelOptions>): [string, string][] {
  return [...models].flatMap(([name, { draftModel }]) => (draftModel === undefined ? [] : [[name, draftModel]]));
}

function memoryOptions(
  values: ConfigValues,
): Pick<InferenceConfig, 'maxLoadedBytes' | 'maxDeviceBytes' | 'isGpuRequired' | 'idleUnloadMs'> {
  const maxLoadedBytes = values['inference.max_loaded_bytes'];
  const maxDeviceBytes = values['inference.max_device_bytes'];
  const idleSeconds = values['inference.idle_unload_seconds'];
  return {
    ...(maxLoadedBytes === 0 ? {} : { maxLoadedBytes }),
    ...(maxDeviceBytes === 0 ? {} : { maxDeviceBytes }),
    isGpuRequired: values['inference.gpu_required'],
    ...(idleSeconds === 0 ? {} : { idleUnloadMs: idleSeconds * 1000 }),
  };
}

/** `MODEL=DRAFT, MODEL=DRAFT` */
function draftModels(text: string): ReadonlyMap<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return new Map(pairs.map((pair) => pair.split('=').map((name) => name.trim()) as [string, string]));
}
