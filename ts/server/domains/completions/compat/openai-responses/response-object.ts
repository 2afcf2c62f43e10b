/** The response object and its output items, whole and in progress. */
import Type from 'typebox';
import type { JobUsage, TokenLogprob } from '../../../../native/llama-shapes.ts';
import { named } from '../../../../platform/schema/named.ts';
import type { ReasoningDetail } from '../../../inference/index.ts';
import type { KeptResponse, ResponseEnd, ResponseStatus } from '../../stored-responses/kept-response.ts';
import { chatLogprobs } from '../openai-chat/logprobs.ts';
import type { ResponsesRequest } from './schema.ts';

/** Lists of tools and requests for approval have no status. */
export type OutputItem = Record<string, unknown> & { id: string; type: string; status?: string };
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

interface ResponseFacts {
  id: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** Id of the model that answers. */
  model: string;
  isKept: boolean;
}

/** Members that stay the same from the first event to the last. */
export function responseHead(facts: ResponseFacts, body: ResponsesRequest): Record<string, unknown> {
  return {
    id: facts.id,
    object: 'response',
    created_at: Math.floor(facts.createdAt / 1000),
    model: facts.model,
    background: body.background ?? false,
    instructions: body.instructions ?? null,
    ...(body.include?.length ? { include: body.include } : {}),
    max_output_tokens: body.max_output_tokens ?? null,
    access_programs: null,
    max_tool_calls: body.max_tool_calls ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { effort: null, summary: null, ...body.reasoning },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: body.service_tier === 'flex' ? 'flex' : 'default',
    store: facts.isKept,
    temperature: body.temperature ?? null,
    text: { format: { type: 'text' }, ...body.text },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? null,
    truncation: 'disabled',
    user: body.user ?? null,
  };
}

/** The members that change on the way: status, output and usage. */
export interface ResponseProgress {
  status: ResponseStatus;
  output: ResponseEnd['output'];
  usage?: JobUsage | undefined;
  error?: ResponseEnd['error'];
}

export function keptResponseObject(kept: KeptResponse): Record<string, unknown> {
  return responseObject(kept.head, kept);
}

export function responseObject(
  head: Record<string, unknown>,
  { status, output, usage, error }: ResponseProgress,
): Record<string, unknown> {
  return {
    ...head,
    status,
    error: error ?? null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    output,
    usage: usage ? responseUsage(usage) : null,
  };
}

export function messageItem(id: string, status: ItemStatus, content: Record<string, unknown>[]): OutputItem {
  return { id, type: 'message', status, role: 'assistant', content };
}

export function textPart(
  text: string,
  logprobs: readonly TokenLogprob[] | undefined,
  annotations: readonly object[] = [],
): Record<string, unknown> {
  return { type: 'output_text', text, annotations, logprobs: responseLogprobs(logprobs) };
}

export function responseLogprobs(tokens: readonly TokenLogprob[] | undefined): unknown[] {
  return tokens ? chatLogprobs(tokens) : [];
}

export function reasoningItem(
  id: string,
  status: ItemStatus,
  text: string | undefined,
  details: readonly ReasoningDetail[] = [],
): OutputItem {
  const sealed = details.length === 0 ? {} : { encrypted_content: Buffer.from(JSON.stringify(details)).toString('base64') };
  const content = text === undefined ? [] : [{ type: 'reasoning_text', text }];
  return { id, type: 'reasoning', status, summary: [], content, ...sealed };
}

export function callItem(id: string, status: ItemStatus, callId: string, name: string, args: string): OutputItem {
  return { id, type: 'function_call', status, call_id: callId, name, arguments: args };
}

function responseUsage({ nPromptTokens, nCachedTokens, nCompletionTokens, provider }: JobUsage): Record<string, unknown> {
  return {
    input_tokens: nPromptTokens,
    input_tokens_details: { cached_tokens: nCachedTokens, cache_write_tokens: Math.max(0, nPromptTokens - nCachedTokens) },
    output_tokens: nCompletionTokens,
    output_tokens_details: { reasoning_tokens: provider?.nReasoningTokens ?? 0 },
    total_tokens: nPromptTokens + nCompletionTokens,
  };
}

/** The response object as the reference shows it. */
export const ResponseShape = named(
  'Response',
  Type.Object({
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    model: Type.String({ description: 'The model that answered.' }),
    status: Type.String({
      description:
        'completed, incomplete (see incomplete_details) or failed (see error); queued, in_progress or cancelled in the background.',
    }),
    store: Type.Boolean({ description: 'Whether the response is kept.' }),
    previous_response_id: Type.Union([Type.String(), Type.Null()]),
    output: Type.Array(Type.Object({ id: Type.String(), type: Type.String(), status: Type.Optional(Type.String()) })),
  }),
);

export const ResponseEvent = named('ResponseEvent', Type.Object({ type: Type.String(), sequence_number: Type.Integer() }));
