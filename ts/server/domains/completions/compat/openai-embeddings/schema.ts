/** Wire shape of POST /v1/embeddings. Source: OpenAI API reference. */
import Type, { type Static } from 'typebox';
import { ignoredMember } from '../../../../platform/schema/member-effect.ts';
import { named } from '../../../../platform/schema/named.ts';
import { nullableBoolean, nullableInteger, nullableString } from '../nullable.ts';

export const EmbeddingRequest = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 512 }),
  input: Type.Unsafe<string | unknown[]>({
    type: ['string', 'array'],
    minLength: 1,
    minItems: 1,
    description: 'A text, token ids, or an array of either (up to 2048).',
  }),
  encoding_format: nullableString('float (default) or base64: little-endian 32-bit floats.', { enum: ['float', 'base64'] }),
  dimensions: nullableInteger(1, 1_048_576, 'Keeps the first of so many dimensions and normalises again.'),
  truncate: nullableBoolean(
    'Whether a text that is longer than the context of a model of this node is embedded without its end (true unless told; `X-Svc-Truncated` names ' +
      'it by its place), or refused: 400 `context_length_exceeded` with its place in `param`. Providers decide for themselves: their models refuse it.',
  ),
  user: ignoredMember('Recorded nowhere.'),
});

export type EmbeddingRequest = Static<typeof EmbeddingRequest>;

export const EmbeddingList = named(
  'EmbeddingList',
  Type.Object({
    object: Type.Literal('list'),
    model: Type.String(),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('embedding'),
        index: Type.Integer(),
        embedding: Type.Union([Type.Array(Type.Number()), Type.String({ description: 'base64' })]),
      }),
    ),
    usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
  }),
);
