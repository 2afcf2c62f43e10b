/** POST /v1/messages and /v1/messages/count_tokens. */
import Type from 'typebox';
import { json, type Reply, type RequestContext, type Route } from '../../../../platform/http/route.ts';
import { routes } from '../../../../platform/http/route-group.ts';
import { named } from '../../../../platform/schema/named.ts';
import { completionErrors, type InferenceService } from '../../../inference/index.ts';
import type { AnswerCall } from '../../answer/pending-answer.ts';
import { ignoredTools, isForced, promptWithoutTools } from '../../answer/usable-tools.ts';
import { answerHeaders, askerOf, type CompletionService, callOptions } from '../../service.ts';
import { anthropicHeaders } from '../foreign-members.ts';
import { identifier } from '../members.ts';
import { maxBodyBytes, readBody } from '../read-body.ts';
import { anthropicMessage } from './answer.ts';
import { anthropicErrorBody } from './error-body.ts';
import { MessagesEncoder } from './event-encoder.ts';
import { type CountCall, countReader, type MessagesCall, messagesReader } from './request.ts';

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
      errors: completionErrors,
      summary: 'Complete a chat in the shape of Anthropic’s Messages API',
      ...readBody(messagesReader),
      requestHeaders: anthropicHeaders,
      responses: { 200: MessageShape },
      stream: Type.Object({ type: Type.String() }),
      handle: (context) => completions.answer(askerOf(context), messagesCall(context.body, context.requestId)),
    }),
    post('/v1/messages/count_tokens', {
      errors: completionErrors,
      summary: 'Count the tokens of a prompt',
      description: 'Text and tools are counted exactly; images are counted as their placeholders.',
      ...readBody(countReader),
      requestHeaders: anthropicHeaders,
      responses: { 200: Type.Object({ input_tokens: Type.Integer() }) },
      handle: (context) => countTokens(service, context),
    }),
  ];
}

function messagesCall({ request, stream, omitsThinking }: MessagesCall, requestId: string): AnswerCall {
  return {
    request,
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
