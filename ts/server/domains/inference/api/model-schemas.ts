/** Wire shapes of the native model routes. */
import Type from 'typebox';
import { named } from '../../../platform/schema/named.ts';
import { Abilities } from '../probe/abilities.ts';

export const ModelParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 512 }) });

const optionalInteger = (description: string) => Type.Optional(Type.Integer({ description }));
const optionalNumber = (description: string) => Type.Optional(Type.Number({ description }));

export const ServingReasonShape = Type.Object({
  code: Type.Enum(['provider_rejected', 'unreachable', 'rate_limited']),
  status: Type.Optional(Type.Integer({ description: 'Of the provider’s answer.' })),
  since: Type.String({ description: 'ISO 8601, UTC.' }),
  detail: Type.String({ description: 'What the provider says.' }),
});

export const ModelSummary = Type.Object({
  id: Type.String(),
  kind: Type.String({ description: 'chat, embedding, rerank, speech or vocab.' }),
  architecture: Type.Optional(Type.String({ description: 'Absent where it is not known, as the two sizes below.' })),
  family: Type.String(),
  capabilities: Type.Array(Type.String(), {
    description: 'Of chat, completion (no chat template), tools, vision, audio, thinking, embeddings, rerank, transcription.',
  }),
  context_length: optionalInteger('Most tokens of one request, prompt and answer together, as the model is or will be loaded.'),
  trained_context_length: optionalInteger('Tokens that the model was trained for.'),
  size_bytes: optionalInteger('Of its file.'),
  n_params: optionalInteger('Parameters.'),
  quantisation: Type.Optional(Type.String()),
  license: Type.Optional(Type.String()),
  abilities: Type.Optional(Abilities),
  documents: Type.Optional(
    Type.Enum(['answers', 'quotes'], {
      description:
        'How a chat model answers from knowledge bases: in its own words, or by quotations alone. The setting data.answers may say otherwise.',
    }),
  ),
  created: Type.Integer({ description: 'Unix seconds.' }),
  owned_by: Type.String(),
  state: Type.String({
    description:
      'inspecting (its abilities are those of its kind until then), unloaded, loading, loaded, unloading, unusable, or remote for a model of a provider.',
  }),
  backend: Type.Optional(Type.String({ description: 'Of a remote model: the backend that is asked first.' })),
  nodes: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Names of the nodes that have it, in a cluster whose nodes answer for each other; empty while none of them answers.',
    }),
  ),
  serving_state: Type.Optional(Type.Enum(['ok', 'checking', 'backend_unhealthy', 'disabled'])),
  serving_state_reason: Type.Optional(ServingReasonShape),
  prices: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'Money for a million tokens, with its currency, source and date.' }),
  ),
  note: Type.Optional(Type.String({ description: 'What a user must know: that it is a demonstration, or why it is unusable.' })),
});

const pinned = Type.Boolean({ description: 'Never unloaded to make room.' });

export const ListedModel = named('ListedModel', Type.Object({ ...ModelSummary.properties, pinned: Type.Optional(pinned) }));

const EngineFacts = Type.Object({
  n_ctx: Type.Integer({ description: 'KV cells for all sequences together.' }),
  n_ctx_per_request: Type.Integer({ description: 'Longest prompt plus completion, tokens.' }),
  n_parallel: Type.Integer({ description: 'Sequences that decode at once.' }),
  n_threads: Type.Integer(),
  memory_bytes: Type.Integer({ description: 'KV cache and compute buffers.' }),
});

const EngineState = Type.Object({
  queued: Type.Integer(),
  queued_tokens: Type.Integer(),
  active: Type.Integer(),
  kv_cells_used: Type.Integer(),
  kv_cells: Type.Integer(),
  prompt_tokens_total: Type.Integer(),
  cached_tokens_total: Type.Integer(),
  completion_tokens_total: Type.Integer(),
  drafted_tokens_total: Type.Integer({ description: 'Verified by speculative decoding.' }),
  accepted_tokens_total: Type.Integer({ description: 'Of the drafted ones, those that were right.' }),
  steps_total: Type.Integer(),
  last_step_ms: Type.Number(),
  jobs_per_second: Type.Number(),
});

export const InferenceModel = named(
  'InferenceModel',
  Type.Object({
    ...ModelSummary.properties,
    pinned,
    requests: Type.Integer({ description: 'Requests that use the model or wait for it.' }),
    load_progress: optionalNumber('0 to 1 while the model is loading.'),
    memory_bytes: optionalInteger('Weights, caches and buffers in memory.'),
    gpu_memory_bytes: optionalInteger('The part of memory_bytes that lies on GPUs.'),
    gpu_layers: optionalInteger('Its layers on GPUs, the output as one more.'),
    predicted_bytes: optionalInteger('What it takes in memory by prediction, loaded or not.'),
    last_used: optionalInteger('Unix seconds.'),
    engine: Type.Optional(EngineFacts),
    stats: Type.Optional(EngineState),
  }),
);

export const StoredModelDetail = named(
  'StoredModelDetail',
  Type.Object({
    id: Type.String(),
    kind: Type.String(),
    architecture: Type.String(),
    file: Type.String({ description: 'File name, without its folder.' }),
    size_bytes: Type.Integer(),
    sha256: Type.Union([Type.String(), Type.Null()]),
    quantisation: Type.Union([Type.String(), Type.Null()]),
    license: Type.Union([Type.String(), Type.Null()]),
    projector_file: Type.Union([Type.String(), Type.Null()]),
    created: Type.Integer({ description: 'Unix seconds.' }),
  }),
);

export const LoadRequest = named(
  'LoadRequest',
  Type.Object({
    wait: Type.Optional(
      Type.Boolean({ description: 'Answers when the model is ready; true unless told. False answers 202 at once.' }),
    ),
  }),
);

export const PinRequest = named(
  'PinRequest',
  Type.Object({
    pinned: Type.Boolean({ description: 'True: never unloaded to make room, nor for being unused; until the server restarts.' }),
  }),
);

export const RemovalQuery = Type.Object({
  force: Type.Optional(Type.Boolean({ description: 'Ends running requests instead of refusing.' })),
});

export const RemovedModel = named(
  'RemovedModel',
  Type.Object({
    id: Type.String(),
    deleted: Type.Literal(true),
    size_bytes: Type.Integer({ description: 'What the disk has gained.' }),
  }),
);

export const UnloadRequest = named(
  'UnloadRequest',
  Type.Object({
    force: Type.Optional(Type.Boolean({ description: 'Ends running requests instead of waiting for them.' })),
  }),
);
