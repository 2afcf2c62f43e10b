/** The four forms of `input`: text, texts, token ids, lists of token ids. */

import type { Text } from '../../../../native/llama-shapes.ts';
import { invalid } from '../../errors.ts';
import { bodyReader, packTexts } from '../body-reader.ts';
import { readTokens } from '../members.ts';
import { EmbeddingRequest } from './schema.ts';

const maxInputs = 2048;

export interface EmbeddingCall {
  model: string;
  inputs: (Text | Int32Array)[];
  isBase64: boolean;
  nDimensions: number | undefined;
  /** Undefined: the caller leaves it open. */
  truncate: boolean | undefined;
}

function readEmbeddingCall({ model, input, encoding_format, dimensions, truncate }: EmbeddingRequest): EmbeddingCall {
  return {
    model,
    inputs: readInputs(input),
    isBase64: encoding_format === 'base64',
    nDimensions: dimensions ?? undefined,
    truncate: truncate ?? undefined,
  };
}

function readInputs(input: string | readonly unknown[]): (string | Int32Array)[] {
  if (typeof input === 'string') return [input];
  if (typeof input[0] === 'number') return [readTokens(input, 'input')];
  if (input.length > maxInputs) throw invalid('input', `input holds ${input.length} items; the most is ${maxInputs}.`);
  return input.map((item, index) => readItem(item, `input[${index}]`));
}

function readItem(item: unknown, param: string): string | Int32Array {
  if (typeof item === 'string') {
    if (item === '') throw invalid(param, `${param} is empty.`);
    return item;
  }
  if (Array.isArray(item)) return readTokens(item, param);
  throw invalid(param, `${param} must be a string or an array of token ids.`);
}

export const embeddingReader = bodyReader('embeddings', EmbeddingRequest, readEmbeddingCall, (call) => ({
  ...call,
  inputs: packTexts(call.inputs),
}));
