/** POST /tokenize and /detokenize in llama-server's shapes. Source: llama.cpp tools/server/README.md. */
import Type, { type Static } from 'typebox';
import { json, type Reply, type RequestContext, type Route, route } from '../../../../platform/http/route.ts';
import { modelErrors } from '../../errors.ts';
import type { InferenceService } from '../../service.ts';
import { callOptions } from '../call.ts';
import { maxBodyBytes } from '../limits.ts';
import { nullableBoolean, nullableString } from '../nullable.ts';
import { openaiErrorBody } from '../openai/error-body.ts';
import { readTokens } from '../token-ids.ts';

const model = nullableString('Model whose tokenizer is used; the default model unless told.', { maxLength: 512 });

const TokenizeRequest = Type.Object({
  model,
  content: Type.String(),
  add_special: nullableBoolean('Adds the tokens that begin or end a text, as the model wants; false unless told.'),
  parse_special: nullableBoolean('Reads special tokens in the text as such; true unless told.'),
  with_pieces: nullableBoolean('Answers {id, piece} for each token; pieces that are part of a UTF-8 character show U+FFFD.'),
});

const DetokenizeRequest = Type.Object({ model, tokens: Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })) });

type TokenizeRequest = Static<typeof TokenizeRequest>;
type DetokenizeRequest = Static<typeof DetokenizeRequest>;

const shared = {
  method: 'POST',
  auth: 'viewer',
  scope: 'chat:use',
  maxBody: maxBodyBytes,
  tag: 'Tokens',
  errors: modelErrors,
  errorBody: openaiErrorBody,
} as const;

export function tokenizeRoutes(service: InferenceService): Route[] {
  return [
    route({
      ...shared,
      path: '/tokenize',
      summary: 'Text to token ids',
      body: TokenizeRequest,
      responses: { 200: Type.Object({ tokens: Type.Array(Type.Unknown()) }) },
      handle: (context) => tokenize(service, context),
    }),
    route({
      ...shared,
      path: '/detokenize',
      summary: 'Token ids to text',
      body: DetokenizeRequest,
      responses: { 200: Type.Object({ content: Type.String() }) },
      handle: (context) => detokenize(service, context),
    }),
  ];
}

async function tokenize(service: InferenceService, context: RequestContext<unknown, unknown, TokenizeRequest>): Promise<Reply> {
  const { content, add_special, parse_special, with_pieces } = context.body;
  const options = callOptions(context);
  const flags = { addSpecial: add_special ?? false, parseSpecial: parse_special ?? true };
  const model = await service.resolve({ ability: 'tokenize', model: context.body.model ?? undefined });
  const tokens = await service.tokenize(model, content, flags, options);
  if (!with_pieces) return json(200, { tokens: [...tokens] });
  const ids = [...new Set(tokens)];
  const texts = await service.detokenize(
    model,
    ids.map((id) => Int32Array.of(id)),
    options,
  );
  const pieces = new Map(ids.map((id, index) => [id, texts[index]]));
  return json(200, { tokens: [...tokens].map((id) => ({ id, piece: pieces.get(id) })) });
}

async function detokenize(
  service: InferenceService,
  context: RequestContext<unknown, unknown, DetokenizeRequest>,
): Promise<Reply> {
  const { tokens } = context.body;
  if (tokens.length === 0) return json(200, { content: '' });
  const ids = readTokens(tokens, 'tokens');
  const options = callOptions(context);
  const model = await service.resolve({ ability: 'tokenize', model: context.body.model ?? undefined });
  const [content] = await service.detokenize(model, [ids], options);
  return json(200, { content });
}
