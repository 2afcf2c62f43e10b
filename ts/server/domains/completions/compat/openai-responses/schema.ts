/** Wire shape of POST /v1/responses. Source: OpenAI API reference. */
import Type, { type Static } from 'typebox';
import { named } from '../../../../platform/schema/named.ts';
import { engineMembers, maxTokensLimit, samplingMembers } from '../engine-members.ts';
import { nullableBoolean, nullableEither, nullableInteger, nullableList, nullableRecord, nullableString } from '../nullable.ts';

export const ResponsesRequest = named(
  'ResponsesRequest',
  Type.Object({
    model: Type.String({ minLength: 1, maxLength: 512 }),
    input: Type.Unsafe<string | unknown[]>({
      type: ['string', 'array'],
      minItems: 1,
      description: 'A text, or a list of items.',
    }),
    instructions: nullableEither<string>(['string'], 'A system message before the input.'),
    stream: nullableBoolean('Server-sent events instead of one body.'),
    max_output_tokens: nullableInteger(1, maxTokensLimit, 'Most output tokens.'),
    tools: nullableList<unknown>({}, 1024, 'Function tools, and file_search.'),
    tool_choice: nullableEither<string | Record<string, unknown>>(
      ['string', 'object'],
      'none, auto, required, file_search or one function.',
    ),
    parallel_tool_calls: nullableBoolean('Several calls in one answer.'),
    text: nullableRecord('format: text, json_object or json_schema.'),
    reasoning: nullableRecord('effort: none switches thinking off where the template can.'),
    top_logprobs: nullableInteger(0, 20, 'Alternatives with each token; needs include: ["message.output_text.logprobs"].'),
    include: nullableList<string>(
      { type: 'string' },
      64,
      'message.output_text.logprobs and file_search_call.results are served.',
    ),
    metadata: nullableRecord('Repeated in the response.'),
    store: nullableBoolean('Keeps the response (default true); `store` of the answer says whether it was.'),
    previous_response_id: nullableString(
      'Id of the response to continue: its items and those before it come first; its instructions do not carry over.',
      {
        maxLength: 256,
      },
    ),
    conversation: nullableEither<unknown>(['string', 'object'], 'Refused: use previous_response_id, or send the items.'),
    background: nullableBoolean('Answers at once, with status queued, and goes on without the client; needs store.'),
    truncation: nullableString('Only disabled.', { enum: ['auto', 'disabled'] }),
    user: nullableString('Recorded nowhere; accepted for compatibility.', { maxLength: 1024 }),
    ...samplingMembers,
    ...engineMembers,
  }),
);

export type ResponsesRequest = Static<typeof ResponsesRequest>;
