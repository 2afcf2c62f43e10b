/** POST /v1/messages and /v1/messages/count_tokens. */
import Type from 'typebox';
import { json, type Reply, type RequestContext, type Route } from '../../../../platform/http/route.ts';
import { routes } from '../../../../platform/http/route-group.ts';
import { named } from '../../../../platform/schema/named.ts';
import { completionErrors, type InferenceService } from '../../../inference/index.ts';
import type { AnswerCall, Asker } from '../../answer/pending-answer.ts';
import { ignoredTools, isForced, promptWithoutTools } from '../../answer/usable-tools.ts';
import { toolErrors } from '../../declared-errors.ts';
import { invalid } from '../../errors.ts';
import { answerHeaders, askerOf, type CompletionService, callOptions, wantsEdgeTools } from '../../service.ts';
import type { EdgeToolsCall } from '../../tools/answer-tools.ts';
import { anthropicHeaders } from '../foreign-members.ts';
import { identifier } from '../members.ts';
import { maxBodyBytes, readBody } from '../read-body.ts';
import { anthropicMessage } from './answer.ts';
import { anthropicErrorBody } from './error-body.ts';
import { MessagesEncoder } from './event-encoder.ts';
import { type CountCall, countReader, type MessagesCall, messagesReader } from './request.ts';
import { searchTools } from './server-tools.ts';

const MessageShape = named(
  'AnthropicMessage',
  Type.Object({
    id: Type.String(),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: Type.String({ description: 'The model that answered.' }),
    content: Type.Array(Type.Object({ type: Type.String() })),
    stop_reason: Type.String({ description: 'end_turn, max_tokens, stop_sequence or tool_use.' }),
    stop_sequence: Type.Union([Type.String(), Type.Null()]),
    usage: Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer() }),
  }),
);

const { post } = routes({ tag: 'Chat', auth: 'viewer', scope: 'chat:use', maxBody: maxBodyBytes, errorBody: anthropicErrorBody });

export function anthropicRoutes(completions: CompletionService, service: InferenceService): Route[] {
  return [
    post('/v1/messages', {
      errors: [...completionErrors, ...toolErrors],
      summary: 'Complete a chat in the shape of Anthropic’s Messages API',
      description:
        'The server tool web_search_20250305 is the tool web.search of the node (`max_uses` limits its calls), with Anthropic’s blocks. With the header ' +
        'X-Svc-Edge-Tools: 1 the model may call the other tools of the node as well, as in POST /v1/chat/completions: they come as blocks mcp_tool_use and ' +
        'mcp_tool_result, with `server_name` svc or the label of the MCP server. A call that asks waits for its decision.',
      ...readBody(messagesReader),
      requestHeaders: anthropicHeaders,
      responses: { 200: MessageShape },
      stream: Type.Object({ type: Type.String() }),
      handle: (context) => {
        const asker = askerOf(context);
        return completions.answer(asker, messagesCall(context.body, asker, context.requestId));
      },
    }),
    post('/v1/messages/count_tokens', {
      errors: completionErrors,
      summary: 'Count the tokens of a prompt',
      description: 'Text and client tools are counted exactly, images as their placeholders, tools of the node not at all.',
      ...readBody(countReader),
      requestHeaders: anthropicHeaders,
      responses: { 200: Type.Object({ input_tokens: Type.Integer() }) },
      handle: (context) => countTokens(service, context),
    }),
  ];
}

function messagesCall(call: MessagesCall, asker: Asker, requestId: string): AnswerCall {
  const { request, stream, omitsThinking } = call;
  return {
    request,
    edgeTools: edgeToolsOf(call, wantsEdgeTools(asker)),
    isStreamed: stream,
    wire: ({ model: { card } }) => {
      const id = identifier('msg_');
      return {
        headers: { 'request-id': requestId },
        encoder: () => new MessagesEncoder(id, card.id, omitsThinking),
        body: (answer) => anthropicMessage(id, card.id, answer, omitsThinking),
      };
    },
  };
}

function edgeToolsOf({ search, edgeTools: names }: MessagesCall, allowsOthers: boolean): EdgeToolsCall | undefined {
  if (names !== undefined && !allowsOthers)
    throw invalid('edge_tools', 'edge_tools needs the header X-Svc-Edge-Tools: 1, which has the node run its own tools.');
  if (search === undefined) return allowsOthers ? { names } : undefined;
  return { names, hosted: searchTools(search, search.isForced, allowsOthers) };
}

async function countTokens(service: InferenceService, context: RequestContext<unknown, unknown, CountCall>): Promise<Reply> {
  const options = callOptions(context);
  const { model: name, prompt, needsTools, needsVision } = context.body;
  const model = await service.resolve(
    { ability: 'chat', model: name, needsTools, mustCall: isForced(prompt), needsVision, needsAudio: false },
    context.caller,
  );
  const toolsIgnored = await ignoredTools({ prompt }, model.card, () => service.meter(model, options));
  const nTokens = await service.countTokens(model, toolsIgnored === undefined ? prompt : promptWithoutTools(prompt), options);
  const headers = answerHeaders({ model: name, ...(toolsIgnored !== undefined && { toolsIgnored }) }, model, false);
  return json(200, { input_tokens: nTokens }, headers);
}
