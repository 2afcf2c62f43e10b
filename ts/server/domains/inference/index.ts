/** The inference module: models, and completions, embeddings, ranking and tokens by the local engine and other backends. */
import { defineModule, type ModuleDefinition } from '../../platform/module/module.ts';
import type { InferenceApi, InferenceOverrides } from './inference-module.ts';
import { inferenceSettings } from './settings.ts';

export { openaiErrorBody } from '../../platform/http/openai-error-body.ts';
export { modelSummary } from './api/model-body.ts';
export { ModelSummary, ServingReasonShape } from './api/model-schemas.ts';
export type {
  BackendCompletion,
  CallNotation,
  CallOptions,
  ChatPrompt,
  CompletionRequest,
  CompletionSink,
  InferenceBackend,
  ModelCard,
  ModelState,
  ProviderMembers,
  ReasoningDetail,
  RunningCompletion,
  SchemaRefusal,
  ServingReason,
  ServingState,
  TokenizeFlags,
} from './backend.ts';
export { chooseDefaultModel } from './default-model.ts';
export {
  allInferenceErrors,
  completionErrors,
  type InferenceErrorCode,
  inferenceErrors,
  modelErrors,
} from './errors.ts';
export * as inferenceEvents from './events.ts';
export { inferenceFailure } from './failure.ts';
export { bytesOf, holdTexts, textOf } from './held-texts.ts';
export type { InferenceApi, InferenceOverrides } from './inference-module.ts';
export type { NodeFile, NodeFiles, OwnFile, WantedFile } from './library/index.ts';
export type { EncodedMedia } from './media/encoded-media.ts';
export { namedModelFile, openModelLibrary } from './model-folders.ts';
export type { ModelKind, ModelSource, StoredModel } from './models/model-source.ts';
export type { ExactNeeds, ModelUser } from './models/selection.ts';
export { Abilities, answersFromDocuments, type ProbedModel } from './probe/abilities.ts';
export { ProbeResults } from './probe/probe-results.ts';
export { type Caller, type InferenceService, isOwn, type ResolvedModel } from './service.ts';
export { inferenceSettings } from './settings.ts';
export type { SplitModel } from './split-models.ts';
export { estimatePromptTokens, promptBytes } from './usage/prompt-estimate.ts';
export type { PromptMeter } from './usage/prompt-meter.ts';
export type { UsageRecorder } from './usage/usage-recorder.ts';

/** Tests put other parts in place of the native engine and the model folder. */
export function defineInference(overrides: InferenceOverrides = {}): ModuleDefinition<typeof inferenceSettings, InferenceApi> {
  return defineModule({
    name: 'inference',
    settings: inferenceSettings,
    useKinds: [{ name: 'models', one: 'model', labels: ['model', 'models'], example: 'llama*, qwen3-4b' }],
    // Imported here, so that a program that only reads settings does not load the whole module.
    create: async (context) => (await import('./inference-module.ts')).createInference(context, overrides),
  });
}

export const inference = defineInference();
