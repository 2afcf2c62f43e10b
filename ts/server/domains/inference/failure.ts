/** Turns what a backend threw into the module's own error. */
import { AddonLoadError, CpuUnsupportedError } from '../../native/load.ts';
import { NativeError, type NativeErrorCode } from '../../native/native-error.ts';
import { DomainError } from '../../platform/errors/domain-error.ts';
import { StorageError } from '../../platform/storage/storage-error.ts';
import { type InferenceError, type InferenceErrorCode, inferenceError, isInferenceErrorCode } from './errors.ts';

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
  grammar_too_complex: 'grammar_too_complex',
  invalid_media: 'invalid_media',
  index_not_found: 'internal',
  index_invalid: 'internal',
  index_write_failed: 'internal',
  context_length_exceeded: 'context_length_exceeded',
  queue_full: 'queue_full',
  deadline_exceeded: 'deadline_exceeded',
  closed: 'model_unloading',
  model_file_changed: 'model_file_changed',
  device_failed: 'device_failed',
  notify_failed: 'internal',
  internal: 'internal',
};

const retried: readonly InferenceErrorCode[] = ['queue_full', 'model_unloading', 'model_file_changed', 'device_failed'];

/** Unknown failures keep their text for the log alone. @param inputs the member that has the texts, of which one may be what fails. */
export function inferenceFailure(error: unknown, inputs = 'input'): InferenceError {
  if (isInferenceError(error)) return error;
  if (error instanceof NativeError) return nativeFailure(error, inputs);
  if (error instanceof CpuUnsupportedError) return inferenceError(error.code, error.message, { cause: error });
  if (error instanceof AddonLoadError)
    return inferenceError('engine_unavailable', 'The native engine could not be loaded; run `svc doctor`.', { cause: error });
  if (error instanceof StorageError) return storageFailure(error);
  if (error instanceof DOMException && error.name === 'AbortError')
    return inferenceError('client_closed', 'The client went away.', { cause: error });
  return inferenceError('internal', 'The server failed to answer; the log has the cause under this request id.', {
    cause: error,
  });
}

function isInferenceError(error: unknown): error is InferenceError {
  return error instanceof DomainError && isInferenceErrorCode(error.code);
}

/** Codes of storage that mean a mistake in this program, not a database that cannot be used now. */
const storageDefects: readonly StorageError['code'][] = [
  'unique_violation',
  'foreign_key_violation',
  'constraint_violation',
  'statement_failed',
  'invalid_value',
];

function storageFailure(error: StorageError): InferenceError {
  if (storageDefects.includes(error.code))
    return inferenceError('internal', 'The server failed to answer; the log has the cause under this request id.', {
      cause: error,
    });
  const sentence = 'The database cannot be read or written now, so the response was not kept; try again, or send store: false.';
  return inferenceError('storage_unavailable', sentence, { cause: error, retryAfterMs: defaultRetryMs });
}

function nativeFailure(error: NativeError, inputs: string): InferenceError {
  const code = fromNative[error.code];
  if (code === 'context_length_exceeded') return promptTooLong(error.message, error.details, { cause: error, inputs });
  const retry = retried.includes(code) ? { retryAfterMs: error.details['retryAfterMs'] ?? defaultRetryMs } : {};
  return inferenceError(code, error.message, { cause: error, ...retry });
}

/** Clients tell this refusal from others by OpenAI's words before the comma, or by Anthropic's behind it, and then fall back to another model. */
export function promptTooLong(
  message: string,
  { nPromptTokens, nCtx, input }: Record<string, number>,
  { cause, inputs = 'input' }: { cause?: Error; inputs?: string } = {},
): InferenceError {
  const sentence = `This model's maximum context length is ${nCtx} tokens, and the prompt is too long: ${message}.`;
  return inferenceError('context_length_exceeded', sentence, {
    ...(cause === undefined ? {} : { cause }),
    ...(input === undefined ? {} : { param: `${inputs}[${input}]` }),
    extra: { n_prompt_tokens: nPromptTokens, n_ctx: nCtx },
  });
}
