/** POST /tokenize and /detokenize, checked by their schemas -> what the tokenizer gets. */

import type { Text } from '../../../../native/llama-shapes.ts';
import type { TokenizeFlags } from '../../../inference/index.ts';
import { readTokens } from '../token-ids.ts';
import type { DetokenizeRequest, TokenizeRequest } from './schema.ts';

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

export function readTokenizeCall({ model, content, add_special, parse_special, with_pieces }: TokenizeRequest): TokenizeCall {
  const flags = { addSpecial: add_special ?? false, parseSpecial: parse_special ?? true };
  return { model: model ?? undefined, content, flags, withPieces: with_pieces ?? false };
}

export function readDetokenizeCall({ model, tokens }: DetokenizeRequest): DetokenizeCall {
  return { model: model ?? undefined, tokens: tokens.length === 0 ? new Int32Array() : readTokens(tokens, 'tokens') };
}
