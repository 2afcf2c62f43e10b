/** POST /tokenize and /detokenize in llama-server's shapes. Source: llama.cpp tools/server/README.md. */
import Type from 'typebox';
import { json, type Reply, type RequestContext, type Route } from '../../../../platform/http/route.ts';
import { routes } from '../../../../platform/http/route-group.ts';
import {
  type CallOptions,
  type InferenceService,
  modelErrors,
  openaiErrorBody,
  type ResolvedModel,
} from '../../../inference/index.ts';
import { callOptions } from '../../service.ts';
import { maxTokenizerBodyBytes, readBody } from '../read-body.ts';
import { type DetokenizeCall, detokenizeReader, type TokenizeCall, tokenizeReader } from './request.ts';

/** Larger answers go out as they are made; smaller ones are sent whole, with their length. */
const mostGatheredTokens = 16_384;

const { post } = routes({
  tag: 'Tokens',
  auth: 'viewer',
  scope: 'chat:use',
  maxBody: maxTokenizerBodyBytes,
  errorBody: openaiErrorBody,
});

export function tokenizeRoutes(service: InferenceService): Route[] {
  return [
    post('/tokenize', {
      errors: modelErrors,
      summary: 'Text to token ids',
      ...readBody(tokenizeReader),
      responses: { 200: Type.Object({ tokens: Type.Array(Type.Unknown()) }) },
      handle: (context) => tokenize(service, context),
    }),
    post('/detokenize', {
      errors: modelErrors,
      summary: 'Token ids to text',
      ...readBody(detokenizeReader),
      responses: { 200: Type.Object({ content: Type.String() }) },
      handle: (context) => detokenize(service, context),
    }),
  ];
}

async function tokenize(service: InferenceService, context: RequestContext<unknown, unknown, TokenizeCall>): Promise<Reply> {
  const { content, flags, withPieces, model: name } = context.body;
  const options = callOptions(context);
  const model = await service.resolve({ ability: 'tokenize', model: name }, context.caller);
  const tokens = await service.tokenize(model, content, flags, options);
  const pieces = withPieces ? await pieceTexts(service, model, tokens, options) : undefined;
  const body = tokenListChunks(tokens, pieces);
  const head = { status: 200, headers: { 'content-type': 'application/json' } };
  if (tokens.length > mostGatheredTokens) return { kind: 'stream', ...head, body };
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return { kind: 'bytes', ...head, body: Buffer.concat(chunks) };
}

/** JSON of the text of each id. */
async function pieceTexts(
  service: InferenceService,
  model: ResolvedModel,
  tokens: Int32Array,
  options: CallOptions,
): Promise<Map<number, string>> {
  const ids = [...new Set(tokens)];
  const texts = await service.detokenize(
    model,
    ids.map((id) => Int32Array.of(id)),
    options,
  );
  return new Map(ids.map((id, index) => [id, JSON.stringify(texts[index])]));
}

async function detokenize(service: InferenceService, context: RequestContext<unknown, unknown, DetokenizeCall>): Promise<Reply> {
  const { tokens, model: name } = context.body;
  if (tokens.length === 0) return json(200, { content: '' });
  const options = callOptions(context);
  const model = await service.resolve({ ability: 'tokenize', model: name }, context.caller);
  const [content] = await service.detokenize(model, [tokens], options);
  return json(200, { content });
}

/** How many tokens are written between two turns of the event loop. */
const nAtOnce = 8_192;

/**
 * Yields the body of an answer in pieces: millions of tokens are tens of megabytes of text, beside which streams go on.
 * @param pieceTexts JSON of the text of each token id, for answers that name it.
 */
async function* tokenListChunks(tokens: Int32Array, pieceTexts?: ReadonlyMap<number, string>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('{"tokens":[');
  for (let at = 0; at < tokens.length; at += nAtOnce) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    yield Buffer.from((at > 0 ? ',' : '') + listed(tokens.subarray(at, at + nAtOnce), pieceTexts));
  }
  yield Buffer.from(']}');
}

function listed(tokens: Int32Array, pieceTexts: ReadonlyMap<number, string> | undefined): string {
  if (pieceTexts === undefined) return tokens.join(',');
  return Array.from(tokens, (id) => `{"id":${id},"piece":${pieceTexts.get(id)}}`).join(',');
}
