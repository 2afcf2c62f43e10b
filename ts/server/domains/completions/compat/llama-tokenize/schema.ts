/** Wire shapes of POST /tokenize and /detokenize. Source: llama.cpp tools/server/README.md. */
import Type, { type Static } from 'typebox';
import { nullableBoolean, nullableString } from '../nullable.ts';

const model = nullableString('Model whose tokenizer is used; the default model unless told.', { maxLength: 512 });

export const TokenizeRequest = Type.Object({
  model,
  content: Type.String(),
  add_special: nullableBoolean('Adds the tokens that begin or end a text, as the model wants; false unless told.'),
  parse_special: nullableBoolean('Reads special tokens in the text as such; true unless told.'),
  with_pieces: nullableBoolean('Answers {id, piece} for each token; pieces that are part of a UTF-8 character show U+FFFD.'),
});

export const DetokenizeRequest = Type.Object({
  model,
  tokens: Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }), { maxItems: 1_000_000 }),
});

export type TokenizeRequest = Static<typeof TokenizeRequest>;
export type DetokenizeRequest = Static<typeof DetokenizeRequest>;
