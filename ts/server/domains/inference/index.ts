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
export { openaiErrorBody } from './compat/openai/error-body.ts';
export {
  type ConversationAnswer,
  type ConversationPort,
  type ConversationQuestion,
  ConversationSlot,
  type OpenConversation,
} from './conversations/conversation-port.ts';
export { chooseDefaultModel } from './default-model.ts';
export { invalid as invalidRequest, streamErrors } from './errors.ts';
export * as inferenceEvents from './events.ts';
export type { InferenceApi, InferenceOverrides } from './inference-module.ts';
export type {
  AnswerFilter,
  AnsweringModel,
  CheckedCitations,
  Citation,
  CitationMark,
  ConversationFilesPlace,
  FoundPassage,
  InputFile,
  InputFileText,
  KnowledgeContext,
  KnowledgeQuestion,
  SearchBounds,
  UnindexedFiles,
  UsedKnowledge,
} from './knowledge/knowledge-context.ts';
export type { KnowledgePort } from './knowledge/knowledge-port.ts';
export { KnowledgeSlot } from './knowledge/knowledge-port.ts';
export { namedModelFile, openModelLibrary } from './model-folders.ts';
export type { ModelKind, ModelSource, StoredModel } from './models/model-source.ts';
export type { CutReason, ResumableStream, StreamOwner } from './resumable-streams/resumable-stream.ts';
export { eventsGone } from './resumable-streams/resumable-stream.ts';
export { NO_STREAMS } from './resumable-streams/stream-limits.ts';
export { StreamRegistry } from './resumable-streams/stream-registry.ts';
export { inferenceSettings } from './settings.ts';

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
