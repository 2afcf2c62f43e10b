/** Wire shapes of chat answers, for OpenAPI. */
import Type from 'typebox';
import { named } from '../../../../platform/schema/named.ts';
import { AnnotationShape, CitationShape, UnindexedShape } from '../../knowledge/citations.ts';
import { logShapes } from '../../logs/log-stage.ts';
import { memoryShapes } from '../../memory/memory-stage.ts';
import { routeShapes } from '../../routing/routing-stage.ts';
import { ToolEventShape } from '../../tools/tool-event.ts';

const Usage = Type.Object({
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer({ description: 'Of all choices together.' }),
  total_tokens: Type.Integer(),
  prompt_tokens_details: Type.Object({ cached_tokens: Type.Integer() }),
  completion_tokens_details: Type.Optional(
    Type.Object(
      {
        accepted_prediction_tokens: Type.Optional(Type.Integer()),
        rejected_prediction_tokens: Type.Optional(Type.Integer()),
        reasoning_tokens: Type.Optional(Type.Integer()),
      },
      {
        description:
          'Drafted tokens of speculative decoding, where any were verified; rejected ones count as no completion. Thoughts, of a model that runs elsewhere.',
      },
    ),
  ),
});

const finishReason = Type.Enum(['stop', 'length', 'tool_calls', 'content_filter']);

const ToolCall = named(
  'ToolCall',
  Type.Object({
    id: Type.String(),
    type: Type.Literal('function'),
    function: Type.Object({ name: Type.String(), arguments: Type.String({ description: 'JSON text.' }) }),
  }),
);

const head = {
  id: Type.String(),
  created: Type.Integer({ description: 'Unix seconds.' }),
  model: Type.String({ description: 'The model that answered.' }),
  system_fingerprint: Type.String(),
};

const citations = Type.Optional(
  Type.Array(CitationShape, { description: 'For a request with `knowledge`: the passages that the answer cites, each checked.' }),
);

const unindexed = Type.Optional(UnindexedShape);

export const ChatCompletion = named(
  'ChatCompletion',
  Type.Object({
    ...head,
    object: Type.Literal('chat.completion'),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({
          role: Type.Literal('assistant'),
          content: Type.Union([Type.String(), Type.Null()]),
          refusal: Type.Null(),
          annotations: Type.Optional(
            Type.Array(AnnotationShape, { description: 'Where the answer cites passages, for a request with `knowledge`.' }),
          ),
          reasoning_content: Type.Optional(Type.String()),
          reasoning_details: Type.Optional(
            Type.Array(
              Type.Object({
                type: Type.String(),
                text: Type.Optional(Type.String()),
                signature: Type.Optional(Type.String()),
                data: Type.Optional(Type.String()),
              }),
              { description: 'Thoughts that a provider has signed or hidden: send them back in the next turn as they are.' },
            ),
          ),
          tool_calls: Type.Optional(Type.Array(ToolCall)),
        }),
        logprobs: Type.Union([Type.Object({}), Type.Null()]),
        finish_reason: finishReason,
      }),
    ),
    citations,
    unindexed,
    ...memoryShapes,
    ...logShapes,
    ...routeShapes,
    tool_events: Type.Optional(
      Type.Array(ToolEventShape, {
        description: 'With X-Svc-Edge-Tools: the tools of the node that ran, each in its last state.',
      }),
    ),
    usage: Usage,
    timings: Type.Optional(Type.Object({}, { description: 'Milliseconds and rates, as llama-server reports them.' })),
  }),
);

export const ChatChunk = Type.Object({
  ...head,
  object: Type.Literal('chat.completion.chunk'),
  choices: Type.Array(
    Type.Object({
      index: Type.Integer(),
      delta: Type.Object({}),
      logprobs: Type.Union([Type.Object({}), Type.Null()]),
      finish_reason: Type.Union([finishReason, Type.Null()]),
    }),
  ),
  citations,
  unindexed,
  ...memoryShapes,
  ...logShapes,
  ...routeShapes,
  tool_event: Type.Optional(ToolEventShape),
  usage: Type.Optional(Type.Union([Usage, Type.Null()])),
});
