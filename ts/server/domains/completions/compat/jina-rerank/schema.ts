/** Wire shape of POST /v1/rerank. Source: Jina's API reference. */
import Type, { type Static } from 'typebox';
import { named } from '../../../../platform/schema/named.ts';
import { nullableBoolean, nullableInteger } from '../nullable.ts';

export const RerankRequest = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 512 }),
  query: Type.String({ minLength: 1 }),
  documents: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 10_000, description: 'Texts, or objects with `text`.' }),
  top_n: nullableInteger(1, 10_000, 'Keeps the best of so many; all unless told.'),
  return_documents: nullableBoolean('Repeats the documents in the results; false unless told.'),
});

export type RerankRequest = Static<typeof RerankRequest>;

export const RerankResult = named(
  'RerankResult',
  Type.Object({
    object: Type.Literal('list'),
    model: Type.String(),
    results: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Place of the document in the request.' }),
        relevance_score: Type.Number({ description: 'Higher is more relevant.' }),
        document: Type.Optional(Type.Object({ text: Type.String() })),
      }),
    ),
    usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
  }),
);
