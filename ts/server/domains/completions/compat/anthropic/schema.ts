/** Wire shape of POST /v1/messages. Source: Anthropic API reference, "Messages". */
import Type, { type Static } from 'typebox';
import { ignoredMember, refusedMember } from '../../../../platform/schema/member-effect.ts';
import { named } from '../../../../platform/schema/named.ts';
import { effortHelp, engineMembers, maxTokensLimit, samplingMembers } from '../engine-members.ts';
import {
  nullableBoolean,
  nullableEither,
  nullableInteger,
  nullableList,
  nullableNumber,
  nullableObject,
  nullableRecord,
  nullableString,
} from '../nullable.ts';

const Message = named('AnthropicInputMessage', Type.Object({ role: Type.String({ minLength: 1 }), content: Type.Unknown() }));

const promptMembers = {
  model: Type.String({ minLength: 1, maxLength: 512 }),
  messages: Type.Array(Message, { minItems: 1, maxItems: 65_536 }),
  system: nullableEither<string | unknown[]>(['string', 'array'], 'System prompt: a text, or text blocks.'),
  tools: nullableList<unknown>(
    {},
    1024,
    'Client tools, and web_search_20250305 (the tool web.search of the node). Client tools are left out (`X-Svc-Tools-Ignored`) where the model cannot call any, or has no room for them, and none is forced.',
  ),
  tool_choice: nullableRecord('auto, any, tool (with name) or none.'),
  thinking: nullableObject('Whether the model thinks first.', {
    type: nullableString('enabled, adaptive or disabled.'),
    budget_tokens: ignoredMember('`max_tokens` bounds thinking and answer together.'),
    display: nullableString('summarized: as the model writes it. omitted: its blocks have no text.'),
  }),
  cache_control: ignoredMember(
    'Prefixes are shared within a tenant by themselves; a provider gets the mark, or the request is refused.',
  ),
  speed: ignoredMember('Every request is as fast as the node can; `service_tier` says which go first.'),
  billing_policy: ignoredMember('Nothing is billed here.'),
  compaction: refusedMember('The server drops no messages by itself: send fewer.'),
  context_management: refusedMember('The server drops no messages by itself: send fewer.'),
  mcp_servers: refusedMember(
    'An administrator registers servers with the node (svc mcp add); their tools run with the header X-Svc-Edge-Tools.',
    {
      type: ['array', 'null'],
      maxItems: 0,
    },
  ),
};

const effort = nullableString(effortHelp, { maxLength: 64 });

export const CountRequest = named(
  'CountRequest',
  Type.Object({
    ...promptMembers,
    output_config: ignoredMember('What the answer must be is no part of the prompt.'),
    output_format: ignoredMember('What the answer must be is no part of the prompt.'),
  }),
);

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
    output_config: nullableObject('What the answer must be.', {
      format: nullableRecord('{type: json_schema, schema}: the answer follows the schema.'),
      effort,
      task_budget: refusedMember('Send `max_tokens`.'),
    }),
    output_format: nullableRecord('The older name of output_config.format.'),
    edge_tools: nullableList<string>(
      { type: 'string', minLength: 1, maxLength: 200 },
      64,
      'With the header X-Svc-Edge-Tools: the tools of the node that may run, by their names; by default those of yours that are nearest to the question.',
    ),
    metadata: ignoredMember('Recorded nowhere.'),
    container: refusedMember('No code runs here.'),
    diagnostics: ignoredMember('The answer says `diagnostics`: null.'),
    inference_geo: refusedMember('Models run where this server runs.', { enum: [null, 'global'] }),
    fallbacks: refusedMember('Another model answers where one is not there; the answer names it.', {
      type: ['array', 'null'],
      maxItems: 0,
    }),
    fallback_credit_token: refusedMember('Nothing is billed here.'),
    thread: refusedMember('Send the messages of the thread.'),
    top_k: nullableInteger(0, maxTokensLimit, 'Keeps this many tokens; 0 keeps all.'),
  }),
);

export type CountRequest = Static<typeof CountRequest>;
export type MessagesRequest = Static<typeof MessagesRequest>;
