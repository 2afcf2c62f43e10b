/** Wire shape of POST /v1/chat/completions. Source: OpenAI API reference; llama.cpp tools/server/README.md for the extensions. */
import Type, { type Static } from 'typebox';
import { ignoredMember, refusedMember } from '../../../../platform/schema/member-effect.ts';
import { named } from '../../../../platform/schema/named.ts';
import type { MemoryKind } from '../../../memory/index.ts';
import { effortHelp, engineMembers, maxTokensLimit, samplingMembers } from '../engine-members.ts';
import { openaiMembers, otherServersMembers, verbosityMember } from '../foreign-members.ts';
import {
  nullableBoolean,
  nullableEither,
  nullableInteger,
  nullableList,
  nullableObject,
  nullableRecord,
  nullableString,
} from '../nullable.ts';

const Message = named(
  'ChatMessage',
  Type.Object({ role: Type.String({ minLength: 1 }) }, { description: 'A chat message; content is text, parts or null.' }),
);

/** Worker threads read requests by this schema, so it imports nothing of the module. */
const memoryKinds: readonly MemoryKind[] = ['fact', 'preference', 'episode', 'summary'];

export const ChatRequest = named(
  'ChatRequest',
  Type.Object({
    model: Type.String({ minLength: 1, maxLength: 512, description: '`auto`: one of this node is chosen.' }),
    messages: Type.Array(Message, { minItems: 1, maxItems: 65_536 }),
    stream: nullableBoolean('Server-sent events instead of one body.'),
    stream_options: nullableObject('How a stream is written.', {
      include_usage: nullableBoolean('A last chunk with the usage.'),
      include_obfuscation: ignoredMember('Chunks carry no obfuscation here.'),
    }),
    max_tokens: nullableInteger(1, maxTokensLimit, 'Most completion tokens of one choice.'),
    max_completion_tokens: nullableInteger(1, maxTokensLimit, 'Newer name of max_tokens; wins when both are there.'),
    n: nullableInteger(1, 128, 'Choices.'),
    stop: nullableEither<string | string[]>(['string', 'array'], 'Text that ends a choice.', {
      items: { type: 'string' },
      maxItems: 64,
    }),
    logprobs: nullableBoolean('Reports log probabilities.'),
    top_logprobs: nullableInteger(0, 20, 'Alternatives with each token.'),
    n_probs: nullableInteger(0, 20, "llama.cpp's name for top_logprobs."),
    logit_bias: nullableEither<Record<string, number> | [number, number | false][]>(
      ['object', 'array'],
      'Token id to bias, -100 to 100.',
    ),
    tools: nullableList<unknown>(
      {},
      1024,
      'Functions that the model may call. Left out (`X-Svc-Tools-Ignored`) where it cannot call any, or has no room for them, and none is forced.',
    ),
    tool_choice: nullableEither<string | Record<string, unknown>>(['string', 'object'], 'none, auto, required, or one function.'),
    functions: refusedMember('It is the older form of tools: send tools: [{"type": "function", "function": {...}}].', {
      type: ['array', 'null'],
      maxItems: 0,
    }),
    function_call: refusedMember('It is the older form of tool_choice: send tools and tool_choice.', {
      enum: [null, 'none', 'auto'],
    }),
    parallel_tool_calls: nullableBoolean('Several calls in one answer.'),
    response_format: nullableRecord('text, json_object or json_schema.'),
    reasoning_effort: nullableString(effortHelp, { maxLength: 64 }),
    verbosity: verbosityMember,
    audio: refusedMember('Answers are text.'),
    modalities: refusedMember('Answers are text.', { type: ['array', 'null'], items: { const: 'text' } }),
    store: refusedMember('Nothing is kept of a chat: POST /v1/responses keeps answers, and `conversation_id` stores them.', {
      enum: [null, false],
    }),
    metadata: ignoredMember('Nothing is kept of a chat, so nothing is labelled.'),
    prediction: ignoredMember('It makes answers faster and changes none; drafts come from the request by themselves.'),
    conversation_id: nullableString(
      'Stores the last user message and the answer in this conversation of the caller. The messages themselves come from the request.',
      { maxLength: 200 },
    ),
    conversation_answer: nullableRecord(
      'How the answer is stored in the conversation. `id`: of its message. `parent_id`: the message that it follows; the question is not stored ' +
        'again then. `prefix`: text that the stored answer begins with, which the model has written before.',
    ),
    resumable: nullableBoolean(
      'With `stream` and `conversation_id`: the answer goes on when its client is gone, and its stream can be resumed by its `id` lines. ' +
        'See GET /api/v1/edge/conversations/streams/{id}.',
    ),
    edge_tools: nullableList<string>(
      { type: 'string', minLength: 1, maxLength: 200 },
      64,
      'With the header X-Svc-Edge-Tools: the tools of the node that may run, by their names; by default those of yours that are nearest to the question.',
    ),
    knowledge: nullableList<string>(
      { type: 'string', minLength: 1, maxLength: 200 },
      16,
      'Knowledge bases of the tenant that the answer stands on and cites: names, or ids of vector stores. `auto`: the one that is nearest to what is asked, ' +
        'which `knowledge_route` names.',
    ),
    knowledge_fallback: nullableString(
      'What follows where `knowledge` has nothing about the question: none, the sentence that says so is the whole answer; model, the model answers behind it.',
      { enum: ['none', 'model'] },
    ),
    memory: nullableEither<boolean | { max?: number; kinds?: MemoryKind[] }>(
      ['boolean', 'object'],
      'true, or `{max, kinds}`: memories of the caller and of the tenant that are about the last question go along with it. By default as the account ' +
        'has it (PUT /api/v1/memory/settings); false for none. The answer has them in `memories`.',
      {
        properties: {
          max: { type: 'integer', minimum: 1, maximum: 50 },
          kinds: { type: 'array', minItems: 1, maxItems: 4, items: { enum: memoryKinds } },
        },
        additionalProperties: false,
      },
    ),
    logs: nullableEither<{ from: string; to: string; class?: string }>(
      ['object'],
      '`{from, to, class?}`: collected log lines of that time (ISO 8601, `-15m`, `now`) that are about the last question go along with it, for administrators.',
      {
        properties: {
          from: { type: 'string', maxLength: 40 },
          to: { type: 'string', maxLength: 40 },
          class: { type: 'string', maxLength: 1_000, pattern: '^[a-z0-9_,]*$' },
        },
        required: ['from', 'to'],
        additionalProperties: false,
      },
    ),
    ...openaiMembers,
    ...otherServersMembers,
    ...samplingMembers,
    ...engineMembers,
  }),
);

export type ChatRequest = Static<typeof ChatRequest>;
