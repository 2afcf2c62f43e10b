/** Every refusal of the module, with the status that its routes answer for it: the one table of both. */
import { DomainError, type DomainErrorOptions } from '../../platform/errors/domain-error.ts';
import { httpError } from '../../platform/http/declared-error.ts';
import type { ErrorSpec, HttpError } from '../../platform/http/errors.ts';

const table = {
  invalid_request: [400, 'A member of the request is missing, of the wrong type or out of range; the sentence names it.'],
  context_length_exceeded: [400, 'The prompt does not fit into the context; shorten the messages, or raise inference.ctx.'],
  invalid_grammar: [400, 'The grammar or JSON schema cannot be compiled; the sentence says where.'],
  invalid_media: [400, 'An image cannot be decoded, or the model reads none; send PNG or JPEG as a data: URL to a vision model.'],
  template_failed: [400, 'The chat template of the model refuses these messages; the sentence is its own.'],
  unsupported: [400, 'The model or the server has no such ability.'],
  model_not_found: [404, 'No installed model can answer; install one with `svc models pull`.'],
  model_cannot_tool_call: [
    422,
    'The request has tools and no model of this family can call them; supported_models lists those that can.',
  ],
  response_not_found: [404, 'No response of this id is kept for this tenant: it has expired, was deleted or never kept.'],
  previous_response_not_found: [
    400,
    'A response that is to be continued is not kept any more; send the earlier items in `input`.',
  ],
  client_closed: [499, 'The client went away before the answer; nobody reads this.'],
  queue_full: [429, 'Too much work is waiting; retry after the time in Retry-After.'],
  rate_limit_exceeded: [429, 'The tenant has used its tokens a minute; retry after the time in Retry-After.'],
  internal: [500, 'A defect of the server; retry, then report it with the request id.'],
  cpu_lacks_avx2: [503, 'The processor has no AVX2, so local models are unavailable on this node.'],
  cpu_lacks_arm_extensions: [
    503,
    'The processor lacks the ARMv8.2 dot-product extensions, so local models are unavailable on this node.',
  ],
  model_invalid: [503, 'The model file cannot be loaded; run `svc models verify`.'],
  model_loading: [503, 'The model is being loaded; retry after the time in Retry-After.'],
  model_unloading: [503, 'The model is being unloaded; retry after the time in Retry-After.'],
  models_busy: [503, 'Every loaded model is working and no memory is free for another; retry after the time in Retry-After.'],
  out_of_memory: [503, 'The model does not fit into memory; use a smaller one, a shorter context or a quantised KV cache.'],
  engine_unavailable: [503, 'The native engine is not there; run `svc doctor`.'],
  storage_unavailable: [
    503,
    'The database cannot be read or written now, so nothing was kept; retry after the time in Retry-After.',
  ],
  deadline_exceeded: [504, 'The request ran past X-Request-Timeout.'],
} satisfies Record<string, [status: number, meaning: string]>;

export type InferenceErrorCode = keyof typeof table;
export type InferenceError = DomainError<InferenceErrorCode>;

export function isInferenceErrorCode(code: string): code is InferenceErrorCode {
  return Object.hasOwn(table, code);
}

/** Declarations for OpenAPI. */
export function errorSpecs(...codes: InferenceErrorCode[]): ErrorSpec[] {
  return codes.map((code) => ({ status: table[code][0], code, meaning: table[code][1] }));
}

/** Nobody reads it, so no route declares it. */
const unanswered: readonly InferenceErrorCode[] = ['client_closed'];
const ofCompletions: readonly InferenceErrorCode[] = [
  'invalid_grammar',
  'invalid_media',
  'template_failed',
  'model_cannot_tool_call',
];
const ofKeptResponses: readonly InferenceErrorCode[] = [
  'response_not_found',
  'previous_response_not_found',
  'storage_unavailable',
];
const answered = (Object.keys(table) as InferenceErrorCode[]).filter(
  (code) => !unanswered.includes(code) && !ofKeptResponses.includes(code),
);

/** What a route that completes a chat can answer: a new code is one of them unless it says otherwise above. */
export const completionErrors = errorSpecs(...answered);

/** What a route that creates a kept response can answer. */
export const createResponseErrors = [...completionErrors, ...errorSpecs('previous_response_not_found', 'storage_unavailable')];

/** What the routes of kept responses can answer. */
export const keptResponseErrors = errorSpecs('invalid_request', 'response_not_found', 'internal', 'storage_unavailable');

/** What any other route that runs a model can answer. */
export const modelErrors = errorSpecs(...answered.filter((code) => !ofCompletions.includes(code)));

export function inferenceError(code: InferenceErrorCode, sentence: string, options: DomainErrorOptions = {}): InferenceError {
  return new DomainError(code, sentence, options);
}

/** A member of a request that cannot be taken. */
export function invalid(param: string, sentence: string): InferenceError {
  return inferenceError('invalid_request', sentence, { param });
}

/** For the frames of a stream that is open already: its route's declaration answers no more. */
export function httpErrorOf(error: InferenceError): HttpError {
  return httpError(error, table[error.code][0]);
}
