/** POST /v1/responses. */

import type { JobUsage } from '../../../../native/llama-shapes.ts';
import { json, type Reply, type RequestContext, type Route, route } from '../../../../platform/http/route.ts';
import { openaiErrorBody } from '../../../inference/index.ts';
import { createResponseErrors } from '../../declared-errors.ts';
import { AnswerFilters } from '../../knowledge/answer-filters.ts';
import { FilteringEncoder } from '../../knowledge/filtering-encoder.ts';
import { answerHeaders, callOptions, gatherAnswer, streamAnswer } from '../call.ts';
import { maxBodyBytes } from '../limits.ts';
import { readsBody } from '../reads-body.ts';
import type { BackgroundResponses } from './background/background-responses.ts';
import { type CreationDeps, createResponse } from './creation.ts';
import { ResponsesEncoder } from './event-encoder.ts';
import { toldSearch } from './file-search/search-item.ts';
import { outputItems, searchedOutput } from './output.ts';
import type { ResponsesCall } from './read-call.ts';
import { responseObject } from './response-object.ts';
import { ResponseEvent, ResponseShape } from './response-shape.ts';

export interface ResponseRouteDeps extends CreationDeps {
  background: BackgroundResponses;
}

type Context = RequestContext<unknown, unknown, ResponsesCall>;

export function responsesRoute(deps: ResponseRouteDeps): Route {
  return route({
    method: 'POST',
    path: '/v1/responses',
    auth: 'viewer',
    scope: 'chat:use',
    maxBody: maxBodyBytes,
    tag: 'Chat',
    summary: 'Create a response',
    description:
      'OpenAI’s Responses API. Unless `store` is false, the answer is on disk before the client hears that it is complete; it is kept for ' +
      '`inference.responses_keep_days`, and longer while another response continues it. `previous_response_id` puts the items of ' +
      'that response, and of those before it, in front of `input`. With `background` the answer comes at once, with status `queued`, and the ' +
      'response is made whether or not the client stays; a node that is killed begins it anew when it is back. With `stream` as well, see ' +
      '`GET /v1/responses/{id}` for how to go on after a lost connection. The tool `file_search` is made before the model answers: its passages go to ' +
      'the model, and `annotations` has the citations that hold; an answer that ends with none of them is completed with a quotation, as in a chat. Each file of `input_file` (`file_id`, or `file_data` up to 4 MiB) is read, and its text goes ' +
      'into the message.',
    ...readsBody('responses'),
    responses: { 200: ResponseShape },
    stream: ResponseEvent,
    errors: createResponseErrors,
    errorBody: openaiErrorBody,
    handle: (context) => respond(deps, context),
  });
}

async function respond(deps: ResponseRouteDeps, context: Context): Promise<Reply> {
  const { service, keeper, background } = deps;
  const options = callOptions(context);
  const { body } = context.body;
  const { models } = context.caller;
  const { scope, request, search, model, head, kept } = await createResponse(deps, context);
  const headers = answerHeaders(request.model, model, context.headers);
  if (kept && body.background) {
    const response = await background.begin(scope, kept, body, {
      ...options,
      ...(models !== undefined && { models }),
      caller: context.caller,
    });
    if (!body.stream) return json(200, response, headers);
    return { kind: 'events', headers, start: await background.follow(scope, kept.id, -1) };
  }
  if (body.stream) {
    const filters = search && new AnswerFilters(search.context);
    const encoder = new ResponsesEncoder(head, 0, search && filters && toldSearch(search, filters));
    const beforeDone = kept && ((usage: JobUsage) => keeper.keep(scope, kept, encoder.end(usage)));
    const filtering = filters ? new FilteringEncoder(encoder, filters) : encoder;
    return streamAnswer(service, model, request, filtering, options, headers, { beforeDone });
  }
  const { choices, usage } = await gatherAnswer(service, model, request, options);
  const isCut = choices.some(({ finish }) => finish === 'length');
  const output = search ? searchedOutput(search, choices) : choices.flatMap((choice) => outputItems(choice));
  const end = { status: isCut ? 'incomplete' : 'completed', output, usage } as const;
  if (kept) await keeper.keep(scope, kept, end);
  return json(200, responseObject(head, end), headers);
}
