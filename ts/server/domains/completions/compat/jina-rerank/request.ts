/** POST /v1/rerank, checked by its schema -> what is ranked. */

import type { Text } from '../../../../native/llama-shapes.ts';
import { invalid } from '../../errors.ts';
import { bodyReader, packTexts } from '../body-reader.ts';
import { asMembers, asText } from '../members.ts';
import { RerankRequest } from './schema.ts';

export interface RerankCall {
  model: string;
  query: Text;
  documents: Text[];
  topN: number | undefined;
  /** The documents that the answer repeats. */
  returned: string[] | undefined;
}

/** The most characters of all documents that the answer repeats, together. */
const maxReturnedCharacters = 4 * 1024 * 1024;

function readRerankCall({ model, query, documents: list, top_n, return_documents }: RerankRequest): RerankCall {
  const documents = list.map(readDocument);
  if (return_documents) refuseLongReturn(documents);
  return { model, query, documents, topN: top_n ?? undefined, returned: return_documents ? documents : undefined };
}

function refuseLongReturn(documents: readonly string[]): void {
  if (documents.reduce((sum, { length }) => sum + length, 0) <= maxReturnedCharacters) return;
  const sentence = `return_documents takes documents of at most ${maxReturnedCharacters} characters altogether; the results name them by index.`;
  throw invalid('return_documents', sentence);
}

function readDocument(document: unknown, index: number): string {
  const param = `documents[${index}]`;
  const text = typeof document === 'string' ? document : asText(asMembers(document, param)['text'], `${param}.text`);
  if (text === '') throw invalid(param, `${param} is empty.`);
  return text;
}

export const rerankReader = bodyReader('rerank', RerankRequest, readRerankCall, (call) => ({
  ...call,
  ...packTexts({ query: call.query }),
  documents: packTexts(call.documents),
}));
