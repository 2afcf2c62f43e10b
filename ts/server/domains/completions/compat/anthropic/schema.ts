/** Wire shape of POST /v1/messages. Source: Anthropic API reference, "Messages". */
import Type, { type Static } from 'typebox';
import { named } from '../../../../platform/schema/named.ts';
import { engineMembers, maxTokensLimit, samplingMembers } from '../engine-members.ts';
import { nullableBoolean, nullableEither, nullableInteger, nullableList, nullableNumber, nullableRecord } from '../nullable.ts';

const Message = named('AnthropicInputMessage', Type.Object({ role: Type.String({ minLength: 1 }), content: Type.Unknown() }));

const promptMembers = {
  model: Type.String({ minLength: 1, maxLength: 512 }),
  messages: Type.Array(Message, { minItems: 1, maxItems: 65_536 }),
  system: nullableEither<string | unknown[]>(['string', 'array'], 'System prompt: a text, or text blocks.'),
  tools: nullableList<unknown>({}, 1024, 'Client tools.'),
  tool_choice: nullableRecord('auto, any, tool (with name) or none.'),
  thinking: nullableRecord('type: enabled or disabled.'),
};

export const CountRequest = named('CountRequest', Type.Object(promptMembers));

// Sampling members that Anthropic's API has keep its ranges; the engine's own come along.
export const MessagesRequest = named(
  'MessagesRequest',
  Type.Object({
    ...samplingMembers,
    ...engineMembers,
    ...promptMembers,
    max_tokens: Type.Integer({ minimum: 1, maximum: maxTokensLimit, description: 'Most output tokens.' }),
    temperature: nullableNumber(0, 2, 'Randomness; 0 takes the most likely token.'),
    stop_sequences: nullableList<string>({ type: 'string', minLength: 1 }, 64, 'Texts that end the answer.'),
    stream: nullableBoolean('Server-sent events instead of one body.'),
    output_config: nullableRecord(
      '`format`: {type: json_schema, schema} has the answer follow a schema. `effort` is accepted for compatibility.',
    ),
    output_format: nullableRecord('The older name of output_config.format.'),
    metadata: nullableRecord('Recorded nowhere; accepted for compatibility.'),
    top_k: nullableInteger(0, maxTokensLimit, 'Keeps this many tokens; 0 keeps all.'),
  }),
);

export type CountRequest = Static<typeof CountRequest>;
export type MessagesRequest = Static<typeof MessagesRequest>;
