/** Every route of the module. */
import type { ErrorBodyPrefix } from '../../platform/http/error-body.ts';
import type { Route } from '../../platform/http/route.ts';
import { type ModelRouteDeps, modelRoutes } from './api/model-routes.ts';
import { type PullRouteDeps, pullRoutes } from './api/pull-routes.ts';
import { anthropicErrorBody } from './compat/anthropic/error-body.ts';
import { anthropicRoutes } from './compat/anthropic/routes.ts';
import { rerankRoute } from './compat/jina-rerank/route.ts';
import { tokenizeRoutes } from './compat/llama-tokenize/routes.ts';
import { openaiErrorBody } from './compat/openai/error-body.ts';
import { chatRoute } from './compat/openai-chat/route.ts';
import { embeddingRoutes } from './compat/openai-embeddings/route.ts';
import { modelListRoute } from './compat/openai-models/route.ts';
import { keptResponseRoutes } from './compat/openai-responses/kept-routes.ts';
import { type ResponseRouteDeps, responsesRoute } from './compat/openai-responses/route.ts';
import type { ConversationSlot } from './conversations/conversation-port.ts';
import type { KnowledgeSlot } from './knowledge/knowledge-port.ts';
import type { StreamRegistry } from './resumable-streams/stream-registry.ts';

/** Clients of a foreign API read refusals in its shape, also for paths that no route serves. */
export const inferenceErrorBodies: readonly ErrorBodyPrefix[] = [
  { prefix: '/v1/', errorBody: openaiErrorBody },
  { prefix: '/v1/messages', errorBody: anthropicErrorBody },
];

export type InferenceRouteDeps = ModelRouteDeps &
  PullRouteDeps &
  ResponseRouteDeps & {
    readonly knowledge: KnowledgeSlot;
    readonly conversations: ConversationSlot;
    readonly streams: StreamRegistry;
  };

export function inferenceRoutes(deps: InferenceRouteDeps, fingerprint: string): Route[] {
  const { service } = deps;
  return [
    modelListRoute(service),
    chatRoute(deps, fingerprint),
    responsesRoute(deps),
    ...keptResponseRoutes(deps),
    ...anthropicRoutes(service),
    ...embeddingRoutes(service),
    rerankRoute(service),
    ...tokenizeRoutes(service),
    ...modelRoutes(deps),
    ...pullRoutes(deps),
  ];
}
