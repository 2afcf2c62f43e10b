/** Every refusal of the inference routes, and how native failures become one of them. */
import { AddonLoadError, CpuUnsupportedError } from '../../native/load.ts';
import { NativeError, type NativeErrorCode } from '../../native/native-error.ts';
import { type ErrorSpec, HttpError } from '../../platform/http/errors.ts';

const specs = {
  invalid_request: [400, 'A member of the request is missing, of the wrong type or out of range; the sentence names it.'],
  context_length_exceeded: [400, 'The prompt does not fit into the context; shorten the messages, or raise inference.ctx.'],
  invalid_grammar: [400, 'The grammar or JSON schema cannot be compiled; the sentence says where.'],
  invalid_media: [400, 'An image cannot be decoded, or the model reads none; send PNG or JPEG as a data: URL to a vision model.'],
  template_failed: [400, 'The chat template of the model refuses these messages; the sentence is its own.'],
  unsupported: [400, 'The model or the server has no such ability.'],
  model_not_found: [404, 'No installed model can answer; install one with `svc models pull`.'],
  not_found: [404, 'The path serves nothing here.'],
  model_cannot_tool_call: [
    422,
    'The request has tools and no model of this family can call them; supported_models lists those that can.',
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
  deadline_exceeded: [504, 'The request ran past X-Request-Timeout.'],
} satisfies Record<string, [number, string]>;

export type InferenceErrorCode = keyof typeof specs;

/** Declarations for OpenAPI. */
export function errorSpecs(...codes: InferenceErrorCode[]): ErrorSpec[] {
  return codes.map((code) => ({ status: specs[code][0], code, meaning: specs[code][1] }));
}

/** Errors that any route which runs a model can answer. */
export const modelErrors = errorSpecs(
  'invalid_request',
  'context_length_exceeded',
  'model_not_found',
  'queue_full',
  'rate_limit_exceeded',
  'internal',
  'cpu_lacks_avx2',
  'cpu_lacks_arm_extensions',
  'model_invalid',
  'model_loading',
  'model_unloading',
  'models_busy',
  'out_of_memory',
  'engine_unavailable',
  'deadline_exceeded',
);

export const completionErrors = [
  ...modelErrors,
  ...errorSpecs('invalid_grammar', 'invalid_media', 'template_failed', 'unsupported', 'model_cannot_tool_call'),
];

interface RefusalOptions {
  param?: string;
  /** Fills Retry-After (whole seconds, rounded up) and retry-after-ms, which SDKs prefer. */
  retryAfterMs?: number;
  extra?: Record<string, unknown>;
  cause?: unknown;
}

export function refusal(code: InferenceErrorCode, detail: string, { retryAfterMs, ...options }: RefusalOptions = {}): HttpError {
  const headers = retryAfterMs === undefined ? {} : retryHeaders(retryAfterMs);
  return new HttpError(specs[code][0], code, detail, { ...options, headers });
}

export function invalid(param: string, detail: string): HttpError {
  return refusal('invalid_request', detail, { param });
}

function retryHeaders(ms: number): Record<string, string> {
  const whole = Math.max(1, Math.ceil(ms));
  return { 'retry-after': String(Math.ceil(whole / 1000)), 'retry-after-ms': String(whole) };
}

const defaultRetryMs = 1000;

/** Native codes that mean something else to a client than to the engine. */
const fromNative: Record<NativeErrorCode, InferenceErrorCode> = {
  invalid_argument: 'invalid_request',
  model_not_found: 'model_invalid',
  model_invalid: 'model_invalid',
  draft_model_incompatible: 'model_invalid',
  load_aborted: 'model_unloading',
  out_of_memory: 'out_of_memory',
  unsupported: 'unsupported',
  template_failed: 'template_failed',
  invalid_grammar: 'invalid_grammar',
  invalid_media: 'invalid_media',
  context_length_exceeded: 'context_length_exceeded',
  queue_full: 'queue_full',
  deadline_exceeded: 'deadline_exceeded',
  closed: 'model_unloading',
  internal: 'internal',
};

const retried: readonly InferenceErrorCode[] = ['queue_full', 'model_unloading'];

/** Turns whatever a backend threw into what a client may see. Unknown failures keep their text for the log alone. */
export function clientError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof NativeError) return nativeRefusal(error);
  if (error instanceof CpuUnsupportedError) return refusal(error.code, error.message, { cause: error });
  if (error instanceof AddonLoadError)
    return refusal('engine_unavailable', 'The native engine could not be loaded; run `svc doctor`.', { cause: error });
  if (error instanceof DOMException && error.name === 'AbortError')
    return refusal('client_closed', 'The client went away.', { cause: error });
  return refusal('internal', 'The server failed to answer; the log has the cause under this request id.', { cause: error });
}

function nativeRefusal(error: NativeError): HttpError {
  const code = fromNative[error.code];
  const extra = code === 'context_length_exceeded' ? contextNumbers(error.details) : {};
  const retry = retried.includes(code) ? { retryAfterMs: error.details['retryAfterMs'] ?? defaultRetryMs } : {};
  return refusal(code, error.message, { cause: error, extra, ...retry });
}

function contextNumbers({ nPromptTokens, nCtx }: Record<string, number>): Record<string, unknown> {
  return { n_prompt_tokens: nPromptTokens, n_ctx: nCtx };
}
