/** POST /v1/responses. */
import type { JobUsage } from '../../../../native/llama.ts';
import { json, type Reply, type RequestContext, type Route, route } from '../../../../platform/http/route.ts';
import { createResponseErrors } from '../../errors.ts';
import { answerHeaders, callOptions, gatherAnswer, streamAnswer } from '../call.ts';
import { maxBodyBytes } from '../limits.ts';
import { openaiErrorBody } from '../openai/error-body.ts';
import { createResponse, type ResponsesDeps } from './creation.ts';
import { ResponsesEncoder } from './event-encoder.ts';
import { outputItems } from './output.ts';
import { responseObject } from './response-object.ts';
import { ResponseEvent, ResponseShape } from './response-shape.ts';
import { ResponsesRequest } from './schema.ts';

export function responsesRoute(deps: ResponsesDeps): Route {
  return route({
    method: 'POST',
    path: '/v1/responses',
    auth: 'viewer',
    maxBody: maxBodyBytes,
    tag: 'Chat',
    summary: 'Create a response',
    description:
      'OpenAI’s Responses API. Unless `store` is false, the answer is on disk before the client hears that it is complete; it is kept for ' +
      '`inference.responses_keep_days`, and longer while another response continues it. `previous_response_id` puts the items of ' +
      'that response, and of those before it, in front of `input`.',
    body: ResponsesRequest,
    responses: { 200: ResponseShape },
    stream: ResponseEvent,
    errors: createResponseErrors,
    errorBody: openaiErrorBody,
    handle: (context) => respond(deps, context),
  });
}

async function respond(deps: ResponsesDeps, context: RequestContext<unknown, unknown, ResponsesRequest>): Promise<Reply> {
  const { service, keeper } = deps;
  const options = callOptions(context);
  const { scope, request, model, head, kept } = await createResponse(deps, context);
  const headers = answerHeaders(request.model, model, context.headers);
  if (context.body.stream) {
    const encoder = new ResponsesEncoder(head);
    const beforeDone = kept && ((usage: JobUsage) => keeper.keep(scope, kept, encoder.end(usage)));
    return streamAnswer(service, model, request, encoder, options, headers, beforeDone);
  }
  const { choices, usage } = await gatherAnswer(service, model, request, options);
  const isCut = choices.some(({ finish }) => finish === 'length');
  const end = { status: isCut ? 'incomplete' : 'completed', output: choices.flatMap(outputItems), usage } as const;
  if (kept) await keeper.keep(scope, kept, end);
  return json(200, responseObject(head, end), headers);
}
