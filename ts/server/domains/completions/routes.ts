/** Every route of the module but those of streams. */
import type { ErrorBodyPrefix } from '../../platform/http/error-body.ts';
import type { Route } from '../../platform/http/route.ts';
import { type InferenceService, openaiErrorBody } from '../inference/index.ts';
import { anthropicErrorBody } from './compat/anthropic/error-body.ts';
import { anthropicRoutes } from './compat/anthropic/routes.ts';
import { rerankRoute } from './compat/jina-rerank/route.ts';
import { tokenizeRoutes } from './compat/llama-tokenize/routes.ts';
import { chatRoute } from './compat/openai-chat/route.ts';
import { embeddingRoutes } from './compat/openai-embeddings/route.ts';
import { modelListRoute } from './compat/openai-models/route.ts';
import { keptResponseRoutes } from './compat/openai-responses/kept-routes.ts';
import { type ResponseRouteDeps, responsesRoute } from './compat/openai-responses/route.ts';

/** Clients of a foreign API read refusals in its shape, also for paths that no route serves. */
export const completionErrorBodies: readonly ErrorBodyPrefix[] = [
  { prefix: '/v1/', errorBody: openaiErrorBody },
  {
    prefix: '/v1/completions',
    errorBody: openaiErrorBody,
    instead: 'Send the text as a message to POST /v1/chat/completions; clients have a setting for models that chat.',
  },
  {
    prefix: '/v1/models/',
    errorBody: openaiErrorBody,
    instead: 'GET /v1/models lists all of them, and GET /api/v1/inference/models/{id} tells of one.',
  },
  { prefix: '/v1/messages', errorBody: anthropicErrorBody },
];

export function completionRoutes(deps: ResponseRouteDeps & { readonly service: InferenceService }, fingerprint: string): Route[] {
  const { service, completions } = deps;
  return [
    modelListRoute(service),
    chatRoute(completions, fingerprint),
    responsesRoute(deps),
    ...keptResponseRoutes(deps),
    ...anthropicRoutes(completions, service),
    ...embeddingRoutes(service),
    rerankRoute(service),
    ...tokenizeRoutes(service),
  ];
}
