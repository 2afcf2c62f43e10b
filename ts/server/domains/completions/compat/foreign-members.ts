/** Members that several APIs have and this server does not honour, and headers of their clients: part of the tables in each `schema.ts`. */
import Type from 'typebox';
import { ignoredMember, refusedMember } from '../../../platform/schema/member-effect.ts';

const idle = (...values: unknown[]) => ({ enum: [null, ...values] });

/** Of chat completions and Responses. */
export const openaiMembers = {
  moderation: refusedMember('No moderation model runs here: judge the texts with a request of their own.'),
  prompt_cache_key: ignoredMember('Prefixes are shared within a tenant by themselves.'),
  prompt_cache_options: ignoredMember('Prefixes are shared within a tenant by themselves.'),
  prompt_cache_retention: ignoredMember(
    'Prefixes stay in memory and on disk as `inference.kv_offload_memory_bytes` and `inference.kv_offload_disk_bytes` say.',
  ),
  safety_identifier: ignoredMember('Recorded nowhere.'),
  user: ignoredMember('Recorded nowhere.'),
};

export const verbosityMember = refusedMember('Say in the messages how long the answer is to be.', idle('medium'));

const formats = 'Send `response_format`, `json_schema` or `grammar`.';

/** Of other servers with OpenAI's paths: what decides an answer there is not dropped here. */
export const otherServersMembers = {
  guided_json: refusedMember(formats),
  guided_regex: refusedMember(formats),
  guided_choice: refusedMember(formats),
  guided_grammar: refusedMember(formats),
  structured_outputs: refusedMember(formats),
  best_of: refusedMember('Send `n`, and choose.', idle(1)),
  echo: refusedMember('Answers do not repeat the prompt.', idle(false)),
  continue_final_message: refusedMember('An answer begins a message of its own.', idle(false)),
  stop_token_ids: refusedMember('Send `stop` with texts.', { type: ['array', 'null'], maxItems: 0 }),
  min_tokens: refusedMember('Send `logit_bias` or `ignore_eos`.', idle(0)),
  repetition_penalty: refusedMember('It is named `repeat_penalty` here.', idle(1)),
  enable_thinking: refusedMember('Send `reasoning_effort`, or `chat_template_kwargs`: {"enable_thinking": false}.'),
  web_search_options: refusedMember('Nothing is searched in the web: `knowledge` names knowledge bases.'),
};

/** Read on every completion route. */
const ownHeaders = {
  'X-Request-Timeout': Type.Optional(Type.String({ description: 'Seconds after which the request ends.' })),
  'X-Svc-Edge-Tools': Type.Optional(Type.String({ description: '1 lets the server run its own tools.' })),
};

export const openaiHeaders = Type.Object({
  ...ownHeaders,
  'OpenAI-Organization': ignoredMember('The credential decides whose request it is.'),
  'OpenAI-Project': ignoredMember('The credential decides whose request it is.'),
  'OpenAI-Beta': ignoredMember('Members are judged one by one.'),
  'Idempotency-Key': ignoredMember('A request that is sent again is answered again.'),
});

export const anthropicHeaders = Type.Object({
  ...ownHeaders,
  'anthropic-version': Type.Optional(
    Type.String({ description: 'Asks `GET /v1/models` for the list in the shape of this API.' }),
  ),
  'anthropic-beta': ignoredMember('Members are judged one by one, whatever a client calls a preview.'),
  'anthropic-user-profile-id': ignoredMember('Recorded nowhere.'),
  'anthropic-workspace-id': ignoredMember('The credential decides whose request it is.'),
});
