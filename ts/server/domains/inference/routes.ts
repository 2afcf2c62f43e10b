/** Every route of the module. */
import type { Route } from '../../platform/http/route.ts';
import { type ModelRouteDeps, modelRoutes } from './api/model-routes.ts';
import { anthropicRoutes } from './compat/anthropic/routes.ts';
import { rerankRoute } from './compat/jina-rerank/route.ts';
import { tokenizeRoutes } from './compat/llama-tokenize/routes.ts';
import { chatRoute } from './compat/openai-chat/route.ts';
import { embeddingRoutes } from './compat/openai-embeddings/route.ts';
import { modelListRoute } from './compat/openai-models/route.ts';
import { responsesRoute } from './compat/openai-responses/route.ts';

export function inferenceRoutes(deps: ModelRouteDeps, fingerprint: string): Route[] {
  const { service } = deps;
  return [
    modelListRoute(service),
    chatRoute(service, fingerprint),
    responsesRoute(service),
    ...anthropicRoutes(service),
    ...embeddingRoutes(service),
    rerankRoute(service),
    ...tokenizeRoutes(service),
    ...modelRoutes(deps),
  ];
}
