/** Wire shape of POST /v1/responses. Source: OpenAI API reference. */
import Type, { type Static } from 'typebox';
import { ignoredMember, refusedMember } from '../../../../platform/schema/member-effect.ts';
import { named } from '../../../../platform/schema/named.ts';
import { effortHelp, engineMembers, maxTokensLimit, samplingMembers } from '../engine-members.ts';
import { openaiMembers, verbosityMember } from '../foreign-members.ts';
import {
  nullableBoolean,
  nullableEither,
  nullableInteger,
  nullableList,
  nullableObject,
  nullableRecord,
  nullableString,
} from '../nullable.ts';
import { Includable } from './includables.ts';

export const ResponsesRequest = named(
  'ResponsesRequest',
  Type.Object({
    model: Type.String({ minLength: 1, maxLength: 512 }),
    input: Type.Unsafe<string | unknown[]>({
      type: ['string', 'array'],
      minItems: 1,
      maxItems: 65_536,
      description: 'A text, or a list of items.',
    }),
    instructions: nullableEither<string>(['string'], 'A system message before the input.'),
    stream: nullableBoolean('Server-sent events instead of one body.'),
    max_output_tokens: nullableInteger(1, maxTokensLimit, 'Most output tokens.'),
    tools: nullableList<unknown>(
      {},
      1024,
      'Function tools, file_search, and the tools of the node: web_search, and mcp with a `server_label` that is registered here. Functions are left out (`X-Svc-Tools-Ignored`) where the model cannot call any, or has no room for them, and none is forced.',
    ),
    tool_choice: nullableEither<string | Record<string, unknown>>(
      ['string', 'object'],
      'none, auto, required, file_search, web_search, mcp, one function or allowed_tools.',
    ),
    parallel_tool_calls: nullableBoolean('Several calls in one answer.'),
    text: nullableObject('What the text of the answer must be.', {
      format: nullableRecord('text, json_object or json_schema.'),
      verbosity: verbosityMember,
    }),
    reasoning: nullableObject('How the model thinks.', {
      effort: nullableString(effortHelp, { maxLength: 64 }),
      summary: ignoredMember('The reasoning itself is in the answer, as the content of its reasoning item.'),
      generate_summary: ignoredMember('The older name of summary.'),
      context: refusedMember('Reasoning of earlier turns goes to the model as its template writes it.', { enum: [null, 'auto'] }),
      mode: refusedMember('A model thinks in one way.', { enum: [null, 'standard'] }),
    }),
    top_logprobs: nullableInteger(0, 20, 'Alternatives with each token; needs include: ["message.output_text.logprobs"].'),
    include: nullableList<string>(
      Includable,
      64,
      'message.output_text.logprobs, file_search_call.results and web_search_call.action.sources are served; of the others, a response has what there is.',
    ),
    metadata: nullableRecord('Repeated in the response.'),
    stream_options: nullableObject('How a stream is written.', {
      include_obfuscation: ignoredMember('Events carry no obfuscation here.'),
    }),
    store: nullableBoolean('Keeps the response (default true); `store` of the answer says whether it was.'),
    previous_response_id: nullableString(
      'Id of the response to continue: its items and those before it come first; its instructions do not carry over.',
      {
        maxLength: 256,
      },
    ),
    conversation: refusedMember('Use previous_response_id, or send the items.'),
    background: nullableBoolean('Answers at once, with status queued, and goes on without the client; needs store.'),
    truncation: refusedMember<string | null | undefined>('The server drops no items by itself: send fewer.', {
      enum: [null, 'disabled'],
    }),
    max_tool_calls: nullableInteger(1, 1024, 'Most calls of web_search and of MCP servers in an answer.'),
    access_programs: refusedMember('There are none here.'),
    context_management: refusedMember('The server drops no items by itself: send fewer.', {
      type: ['array', 'null'],
      maxItems: 0,
    }),
    image: nullableObject('How images are read.', {
      context_compression: refusedMember('Images go to the projector as it wants them.', { enum: [null, 'auto', 'disabled'] }),
    }),
    prompt: refusedMember('No prompts are kept here: send instructions and input.'),
    ...openaiMembers,
    ...samplingMembers,
    ...engineMembers,
  }),
);

export type ResponsesRequest = Static<typeof ResponsesRequest>;
