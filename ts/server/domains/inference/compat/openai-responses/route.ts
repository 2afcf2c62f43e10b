/** POST /v1/responses, stateless. */
import Type from 'typebox';
import { json, type Reply, type RequestContext, type Route, route } from '../../../../platform/http/route.ts';
import { completionErrors } from '../../errors.ts';
import type { InferenceService } from '../../service.ts';
import { answerHeaders, callOptions, gatherAnswer, streamAnswer } from '../call.ts';
import { identifier, unixSeconds } from '../identifier.ts';
import { maxBodyBytes } from '../limits.ts';
import { openaiErrorBody } from '../openai/error-body.ts';
import { ResponsesEncoder } from './event-encoder.ts';
import { outputItems } from './output.ts';
import { readResponsesRequest } from './request.ts';
import { responseHead, responseObject } from './response-object.ts';
import { ResponsesRequest } from './schema.ts';

const ResponseShape = Type.Object({
  id: Type.String(),
  object: Type.Literal('response'),
  created_at: Type.Integer({ description: 'Unix seconds.' }),
  model: Type.String({ description: 'The model that answered.' }),
  status: Type.String({ description: 'completed, incomplete (see incomplete_details), failed or in_progress.' }),
  output: Type.Array(Type.Object({ id: Type.String(), type: Type.String(), status: Type.String() })),
});

export function responsesRoute(service: InferenceService): Route {
  return route({
    method: 'POST',
    path: '/v1/responses',
    auth: 'viewer',
    maxBody: maxBodyBytes,
    tag: 'Chat',
    summary: 'Create a response',
    description:
      'OpenAI’s Responses API without its storage: `store: true` and `previous_response_id` are refused; send the items again.',
    body: ResponsesRequest,
    responses: { 200: ResponseShape },
    stream: Type.Object({ type: Type.String(), sequence_number: Type.Integer() }),
    errors: completionErrors,
    errorBody: openaiErrorBody,
    handle: (context) => respond(service, context),
  });
}

async function respond(service: InferenceService, context: RequestContext<unknown, unknown, ResponsesRequest>): Promise<Reply> {
  const { body } = context;
  const options = callOptions(context);
  const request = readResponsesRequest(body);
  const model = await service.resolve({ ability: 'chat', ...request });
  const headers = answerHeaders(request.model, model, context.headers);
  const head = responseHead(identifier('resp_'), unixSeconds(), model.card.id, body);
  if (body.stream) return streamAnswer(service, model, request, new ResponsesEncoder(head), options, headers);
  const { choices, usage } = await gatherAnswer(service, model, request, options);
  const output = choices.flatMap(outputItems);
  const status = choices.some((choice) => choice.finish === 'length') ? 'incomplete' : 'completed';
  return json(200, responseObject(head, { status, output, usage }), headers);
}
