/** The inference settings in the module's own words; what is automatic is left out. */
import type { EngineOptions } from '../../native/llama-shapes.ts';
import type { LocalOptions } from './local/local-options.ts';
import type { ModelOptions } from './model-sections.ts';

export interface InferenceConfig {
  /** Models that are never unloaded to make room. */
  pinnedModels?: readonly string[];
  maxLoadedModels?: number;
  /** Weights, caches and buffers of all loaded models together, bytes of main memory. */
  maxLoadedBytes?: number;
  /** The same in the memory of devices. */
  maxDeviceBytes?: number;
  /** A model that no GPU computes is not loaded. */
  isGpuRequired?: boolean;
  /** A model that nobody used for so long is unloaded, milliseconds; absent: never. */
  idleUnloadMs?: number;
  /** How long a request waits for a model to load, milliseconds. */
  loadWaitMs?: number;
  /** Longest time for a completion whose client names no limit, milliseconds; absent for none. */
  requestTimeoutMs?: number;
  engine?: EngineOptions;
  /** Models that draft for others, by the id of the model that they draft for. */
  draftModels?: ReadonlyMap<string, string>;
  load?: LocalOptions['load'];
  /** The options that are set otherwise for one model, by its id. */
  models?: ReadonlyMap<string, ModelOptions>;
}
