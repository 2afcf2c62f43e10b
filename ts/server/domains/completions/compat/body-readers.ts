/**
 * How the body of each route is read: its schema, and the translation to what the handler gets. Worker threads read large bodies by the
 * same table, so what is imported here is pure: it knows neither the engine nor the server.
 */
import type { Static, TSchema } from 'typebox';
import { readCountCall, readMessagesCall } from './anthropic/request.ts';
import { CountRequest, MessagesRequest } from './anthropic/schema.ts';
import { readRerankCall } from './jina-rerank/request.ts';
import { RerankRequest } from './jina-rerank/schema.ts';
import { readDetokenizeCall, readTokenizeCall } from './llama-tokenize/request.ts';
import { DetokenizeRequest, TokenizeRequest } from './llama-tokenize/schema.ts';
import { readChatRequest } from './openai-chat/request.ts';
import { ChatRequest } from './openai-chat/schema.ts';
import { readEmbeddingCall } from './openai-embeddings/input.ts';
import { EmbeddingRequest } from './openai-embeddings/schema.ts';
import { readResponsesCall } from './openai-responses/read-call.ts';
import { ResponsesRequest } from './openai-responses/schema.ts';
import { packPrompt, packRequest, packTexts } from './packed-text.ts';

export interface BodyReaderSpec<S extends TSchema, R> {
  schema: S;
  read(body: Static<S>, sizeBytes: number): R;
  /** The same with its long text as bytes, for the way between threads. */
  pack(result: R): R;
}

function reader<S extends TSchema, R>(
  schema: S,
  read: (body: Static<S>, sizeBytes: number) => R,
  pack: (result: R) => R = (result) => result,
): BodyReaderSpec<S, R> {
  return { schema, read, pack };
}

export const bodyReaders = {
  chat: reader(ChatRequest, readChatRequest, (call) => ({ ...call, request: packRequest(call.request) })),
  responses: reader(ResponsesRequest, readResponsesCall, (call) => ({
    ...call,
    request: call.request && packRequest(call.request),
  })),
  messages: reader(MessagesRequest, readMessagesCall, (call) => ({ ...call, request: packRequest(call.request) })),
  countTokens: reader(CountRequest, readCountCall, (call) => ({ ...call, prompt: packPrompt(call.prompt) })),
  embeddings: reader(EmbeddingRequest, readEmbeddingCall, (call) => ({ ...call, inputs: packTexts(call.inputs) })),
  rerank: reader(RerankRequest, readRerankCall, (call) => ({
    ...call,
    ...packTexts({ query: call.query }),
    documents: packTexts(call.documents),
  })),
  tokenize: reader(TokenizeRequest, readTokenizeCall, (call) => ({ ...call, ...packTexts({ content: call.content }) })),
  detokenize: reader(DetokenizeRequest, readDetokenizeCall),
};

export type BodyReaderName = keyof typeof bodyReaders;
