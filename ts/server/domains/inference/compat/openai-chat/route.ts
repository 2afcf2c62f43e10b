/** POST /v1/chat/completions. */
import Type from 'typebox';
import { json, type Reply, type RequestContext, type Route, route } from '../../../../platform/http/route.ts';
import { completionErrors } from '../../errors.ts';
import type { InferenceService } from '../../service.ts';
import { answerHeaders, callOptions, gatherAnswer, streamAnswer } from '../call.ts';
import { identifier, unixSeconds } from '../identifier.ts';
import { maxBodyBytes } from '../limits.ts';
import { openaiErrorBody } from '../openai/error-body.ts';
import { readsBody } from '../reads-body.ts';
import { ChunkEncoder, type ChunkHead } from './chunk-encoder.ts';
import { chatCompletion } from './completion.ts';
import type { ChatCall } from './request.ts';
import { ChatChunk, ChatCompletion } from './response-schema.ts';

export function chatRoute(service: InferenceService, fingerprint: string): Route {
  return route({
    method: 'POST',
    path: '/v1/chat/completions',
    auth: 'viewer',
    scope: 'chat:use',
    maxBody: maxBodyBytes,
    tag: 'Chat',
    summary: 'Complete a chat',
    description:
      'An unknown model is answered by another one: compare `model`, and see the header X-Svc-Model-Substituted. With `stream`, a failure ' +
      'before the first token is a plain error with its status; a later one is a frame with `error` and `detail`, and the stream ends. ' +
      'The header X-Request-Timeout limits the time in seconds. Without X-Svc-Edge-Tools: 1, tools are the client’s own.',
    ...readsBody('chat'),
    responses: { 200: ChatCompletion },
    stream: Type.Union([ChatChunk, Type.Object({ error: Type.Object({}), detail: Type.String() })]),
    errors: completionErrors,
    errorBody: openaiErrorBody,
    handle: (context) => completeChat(service, fingerprint, context),
  });
}

async function completeChat(
  service: InferenceService,
  fingerprint: string,
  context: RequestContext<unknown, unknown, ChatCall>,
): Promise<Reply> {
  const options = callOptions(context);
  const { request, stream, includeUsage } = context.body;
  const model = await service.resolve({ ability: 'chat', ...request });
  const headers = answerHeaders(request.model, model, context.headers);
  const head: ChunkHead = { id: identifier('chatcmpl-'), created: unixSeconds(), model: model.card.id, fingerprint };
  if (stream) {
    const encoder = new ChunkEncoder(head, request.job.n ?? 1, includeUsage);
    return streamAnswer(service, model, request, encoder, options, headers);
  }
  return json(200, chatCompletion(head, await gatherAnswer(service, model, request, options)), headers);
}
