/** POST /v1/responses. */
import { scopeOf } from '../../../../platform/http/principal.ts';
import { json, type Reply, type RequestContext, type Route } from '../../../../platform/http/route.ts';
import { routes } from '../../../../platform/http/route-group.ts';
import { openaiErrorBody } from '../../../inference/index.ts';
import { createResponseErrors } from '../../declared-errors.ts';
import { answerHeaders, askerOf } from '../../service.ts';
import { openaiHeaders } from '../foreign-members.ts';
import { maxBodyBytes, readBody } from '../read-body.ts';
import type { BackgroundResponses } from './background/background-responses.ts';
import { type ResponsesCall, responsesReader } from './read-call.ts';
import { type CreationDeps, responseCall } from './response-call.ts';
import { ResponseEvent, ResponseShape } from './response-object.ts';

export interface ResponseRouteDeps extends CreationDeps {
  background: BackgroundResponses;
}

type Context = RequestContext<unknown, unknown, ResponsesCall>;

const { post } = routes({ tag: 'Chat', auth: 'viewer', scope: 'chat:use', errorBody: openaiErrorBody });

export function responsesRoute(deps: ResponseRouteDeps): Route {
  return post('/v1/responses', {
    maxBody: maxBodyBytes,
    summary: 'Create a response',
    description:
      'OpenAI’s Responses API. Unless `store` is false, the answer is on disk before the client hears that it is complete; it is kept for ' +
      '`inference.responses_keep_days`, and longer while another response continues it. `previous_response_id` puts the items of ' +
      'that response, and of those before it, in front of `input`. With `background` the answer comes at once, with status `queued`, and the ' +
      'response is made whether or not the client stays; a node that is killed begins it anew when it is back. With `stream` as well, see ' +
      '`GET /v1/responses/{id}` for how to go on after a lost connection. The tool `file_search` is made before the model answers: its passages go to ' +
      'the model, and `annotations` has the citations that hold; each names what its passages do not say (`unsupported`), and an answer that ends with none of them is completed with a quotation, as in a chat. Each file of `input_file` (`file_id`, or `file_data` up to 4 MiB) is read, and its text goes ' +
      'into the message.',
    ...readBody(responsesReader),
    requestHeaders: openaiHeaders,
    responses: { 200: ResponseShape },
    stream: ResponseEvent,
    errors: createResponseErrors,
    handle: (context) => respond(deps, context),
  });
}

async function respond(deps: ResponseRouteDeps, context: Context): Promise<Reply> {
  const { completions, background } = deps;
  const { body } = context.body;
  const asker = askerOf(context);
  const answer = await completions.open(asker, await responseCall(deps, context));
  if (!body.background || answer.wire.kept === undefined) return await completions.deliver(answer);
  const { caller } = context;
  const models = caller.limits?.['models'];
  const scope = scopeOf(caller);
  const { kept } = answer.wire;
  const response = await background.begin(scope, kept, body, {
    ...asker.options,
    ...(models !== undefined && { models }),
    caller,
  });
  const headers = answerHeaders(answer.request, answer.model, false);
  if (!body.stream) return json(200, response, headers);
  return { kind: 'events', headers, start: await background.follow(scope, kept.id, -1) };
}
