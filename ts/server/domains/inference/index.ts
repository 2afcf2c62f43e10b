/** The inference module: chat, embeddings, ranking, tokens and models over the local engine and other backends. */
import { defineModule, type ModuleDefinition } from '../../platform/module/module.ts';
import type { InferenceApi, InferenceOverrides } from './inference-module.ts';
import { responseMigrations } from './kept-responses/migrations.ts';
import { inferenceSettings } from './settings.ts';

export type {
  CallOptions,
  CompletionRequest,
  CompletionSink,
  InferenceBackend,
  ModelCard,
  ModelState,
  RunningCompletion,
} from './backend.ts';
export { chooseDefaultModel } from './default-model.ts';
export type { InferenceApi, InferenceOverrides } from './inference-module.ts';
export { namedModelFile, openModelLibrary } from './model-folders.ts';
export type { ModelKind, ModelSource, StoredModel } from './models/model-source.ts';
export { cacheTypes, inferenceSettings } from './settings.ts';

/** Tests put other parts in place of the native engine and the model folder. */
export function defineInference(overrides: InferenceOverrides = {}): ModuleDefinition<typeof inferenceSettings, InferenceApi> {
  return defineModule({
    name: 'inference',
    settings: inferenceSettings,
    migrations: responseMigrations,
    // Imported here, so that a program that only reads settings does not load the whole module.
    create: async (context) => (await import('./inference-module.ts')).createInference(context, overrides),
  });
}

export const inference = defineInference();
