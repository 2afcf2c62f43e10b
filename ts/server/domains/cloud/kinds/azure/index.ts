/** Azure OpenAI: OpenAI's bodies, with a deployment in the path and a version in the query. */
import { jsonText } from '../json.ts';
import type { Kind } from '../kind.ts';
import { openai, readEmbeddings } from '../openai/index.ts';
import { chatRequest } from '../openai/request.ts';

const pathOf = (deployment: string, what: string, version: string): string =>
  `/openai/deployments/${encodeURIComponent(deployment)}/${what}?api-version=${encodeURIComponent(version)}`;

/** Deployments are listed by the management API alone: the filter names those that are offered. */
export const azure: Kind = {
  framing: 'sse',
  hasPath: false,
  needsKey: true,
  authorize: (key) => ({ 'api-key': key }),
  chat: (call, { apiVersion }) =>
    chatRequest({ ...call, hints: {} }, 'openai', pathOf(call.model, 'chat/completions', apiVersion)),
  reader: openai.reader,
  embeddings: {
    request: (model, input, { apiVersion }) => ({
      path: pathOf(model, 'embeddings', apiVersion),
      body: jsonText({ input, encoding_format: 'float' }),
    }),
    read: readEmbeddings,
  },
};
