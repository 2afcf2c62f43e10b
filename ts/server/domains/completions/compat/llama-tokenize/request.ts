/** Bodies of POST /tokenize and /detokenize, and what the tokenizer gets of them. Source: llama.cpp tools/server/README.md. */

import Type, { type Static } from 'typebox';
import type { Text } from '../../../../native/llama-shapes.ts';
import type { TokenizeFlags } from '../../../inference/index.ts';
import { bodyReader, packTexts } from '../body-reader.ts';
import { readTokens } from '../members.ts';
import { nullableBoolean, nullableString } from '../nullable.ts';

const model = nullableString('Model whose tokenizer is used; the default model unless told.', { maxLength: 512 });

const TokenizeRequest = Type.Object({
  model,
  content: Type.String(),
  add_special: nullableBoolean('Adds the tokens that begin or end a text, as the model wants; false unless told.'),
  parse_special: nullableBoolean('Reads special tokens in the text as such; true unless told.'),
  with_pieces: nullableBoolean('Answers {id, piece} for each token; pieces that are part of a UTF-8 character show U+FFFD.'),
});

const DetokenizeRequest = Type.Object({
  model,
  tokens: Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }), { maxItems: 1_000_000 }),
});

type TokenizeRequest = Static<typeof TokenizeRequest>;
type DetokenizeRequest = Static<typeof DetokenizeRequest>;

export interface TokenizeCall {
  model: string | undefined;
  content: Text;
  flags: TokenizeFlags;
  withPieces: boolean;
}

export interface DetokenizeCall {
  model: string | undefined;
  tokens: Int32Array;
}

function readTokenizeCall({ model, content, add_special, parse_special, with_pieces }: TokenizeRequest): TokenizeCall {
  const flags = { addSpecial: add_special ?? false, parseSpecial: parse_special ?? true };
  return { model: model ?? undefined, content, flags, withPieces: with_pieces ?? false };
}

function readDetokenizeCall({ model, tokens }: DetokenizeRequest): DetokenizeCall {
  return { model: model ?? undefined, tokens: tokens.length === 0 ? new Int32Array() : readTokens(tokens, 'tokens') };
}

export const tokenizeReader = bodyReader('tokenize', TokenizeRequest, readTokenizeCall, (call) => ({
  ...call,
  ...packTexts({ content: call.content }),
}));

export const detokenizeReader = bodyReader('detokenize', DetokenizeRequest, readDetokenizeCall);
