/** POST /tokenize and /detokenize, checked by their schemas -> what the tokenizer gets. */

import type { Text } from '../../../../native/llama-shapes.ts';
import type { TokenizeFlags } from '../../../inference/index.ts';
import { bodyReader, packTexts } from '../body-reader.ts';
import { readTokens } from '../members.ts';
import { DetokenizeRequest, TokenizeRequest } from './schema.ts';

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
