/** The readers of all bodies, by which worker threads find the one that a route names. */
import { countReader, messagesReader } from './compat/anthropic/request.ts';
import { rerankReader } from './compat/jina-rerank/request.ts';
import { detokenizeReader, tokenizeReader } from './compat/llama-tokenize/request.ts';
import { chatReader } from './compat/openai-chat/request.ts';
import { embeddingReader } from './compat/openai-embeddings/input.ts';
import { responsesReader } from './compat/openai-responses/read-call.ts';

export const bodyReaders = {
  chat: chatReader,
  responses: responsesReader,
  messages: messagesReader,
  countTokens: countReader,
  embeddings: embeddingReader,
  rerank: rerankReader,
  tokenize: tokenizeReader,
  detokenize: detokenizeReader,
};

export type BodyReaderName = keyof typeof bodyReaders;
