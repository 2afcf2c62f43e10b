/** How the local backend runs its models. */
import type { EngineEvents, EngineOptions, LoadOptions } from '../../../native/llama-shapes.ts';
import type { MediaDecoder } from '../media/media-decoder.ts';
import type { ModelOptions } from '../model-sections.ts';
import type { StoredModel } from '../models/model-source.ts';
import type { ProbedAbilities } from './model-catalogue.ts';
import type { RegistryLimits, RegistryObserver } from './model-registry.ts';

export interface LocalOptions {
  /** Never unloaded to make room. */
  pinned: readonly string[];
  limits: RegistryLimits;
  engine: EngineOptions;
  /** Models that draft for others, by the id of the model that they draft for. */
  draftModels?: ReadonlyMap<string, string>;
  load: Omit<LoadOptions, 'path' | 'projectorPath' | 'vocabOnly' | 'loras'>;
  /** A model that no GPU computes is not loaded. */
  isGpuRequired?: boolean;
  /** Decodes images and sounds; absent: one of its own. */
  media?: MediaDecoder;
  /** The options that are set otherwise for one model, by its id. */
  models?: ReadonlyMap<string, Pick<ModelOptions, 'engine' | 'load'>>;
  events?: EngineEvents;
  observer?: RegistryObserver;
  /** Told of files that have yet to be inspected and that no request waits for; without it they are inspected at once. */
  announce?: (stored: StoredModel) => void;
  /** The abilities that a probe found. */
  probed?: ProbedAbilities;
}
