/** Every refusal of the module, with the status that its routes answer for it: the one table of both. */
import { type CodeOf, defineErrors } from '../../platform/errors/define-errors.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';

export const inferenceErrors = defineErrors('inference', {
  invalid_request: [
    400,
    'A member of the request is missing, of the wrong type or out of range; the sentence names it.',
    'Correct that member.',
  ],
  context_length_exceeded: [400, 'The prompt does not fit into the context.', 'Shorten the messages, or raise inference.ctx.'],
  invalid_grammar: [
    400,
    'The grammar or JSON schema cannot be compiled; the sentence says where.',
    'Correct it where the sentence points.',
  ],
  schema_not_supported: [
    400,
    'A strict JSON Schema has a keyword that is not followed where it stands; `pointer`, `keyword` and `tool` say where.',
    'Use what `accepted` names, or leave `strict` out: the answer then names what it does not follow in X-Svc-Schema-Ignored.',
  ],
  grammar_too_complex: [
    400,
    'The grammar or JSON schema takes too long or too much memory to follow.',
    'Make it smaller, or less ambiguous.',
  ],
  invalid_media: [
    400,
    'An image or sound cannot be decoded.',
    'Send PNG, JPEG, WebP, GIF or AVIF as a data: URL, or WAV or MP3.',
  ],
  template_failed: [
    400,
    'The chat template of the model refuses these messages; the sentence is its own.',
    'Change the messages as the sentence says, or use another model.',
  ],
  unsupported: [400, 'The model or the server has no such ability.', 'Use a model that has it.'],
  unsupported_by_backend: [
    400,
    'The provider that has the model takes no such member; the sentence names it, and the models that do.',
    'Leave the member out, or use another model.',
  ],
  provider_refused: [400, 'The provider that has the model refuses the request; the sentence is its own.', 'Change the request.'],
  provider_payment_required: [402, 'The account at the provider has no credit.', 'Have an administrator top it up.'],
  model_not_allowed: [403, 'The credential is limited to other models; `allowed_models` lists them.', 'Use one of those.'],
  model_not_found: [404, 'No installed model can answer.', 'Install one with `svc models pull`.'],
  model_cannot_tool_call: [
    422,
    'A tool must be called, or the model is not here and there are tools; and no model of its family can call them.',
    'Use one of `supported_models`.',
  ],
  model_source_not_found: [404, 'Neither the catalogue nor the server that was named has such a file.', 'Check its spelling.'],
  address_refused: [
    400,
    'The address of the download is not https, or lies inside the network.',
    'Name an https address on the internet, or the host in models.allowed_hosts.',
  ],
  model_exists: [
    409,
    'Another file of that name is in the library.',
    'Give `force` to replace it, or `name` to store under another.',
  ],
  model_in_use: [
    409,
    'The model is being used, pulled or deleted.',
    'Wait for it, cancel the pull, or give `force` where that is offered.',
  ],
  model_read_only: [403, 'The file lies outside models_dir, where svc changes nothing.', 'Delete it there.'],
  not_a_model: [422, 'What the server sends is no sound GGUF file.', 'Name the .gguf file itself, not its page.'],
  checksum_mismatch: [
    422,
    'The bytes have another SHA-256 than was promised, so they were deleted.',
    'Pull again, or from elsewhere.',
  ],
  no_space: [507, 'The disk of models_dir is too full for the model.', 'Delete models, or move models_dir to a larger disk.'],
  source_unreachable: [502, 'The server of the file cannot be reached.', 'Pull again later, which continues where this stopped.'],
  source_refused: [
    502,
    'The server of the file refuses to send it, or sends what cannot be taken; the sentence says which.',
    'Look at the file on its server, or pull it from elsewhere.',
  ],
  source_needs_permission: [
    403,
    'The file is gated.',
    'Accept its license on the hub, and start the server with HF_TOKEN set to a token of that account.',
  ],
  job_not_found: [404, 'There is no such job, or it is not the caller’s.', 'List the jobs: `svc jobs list`.'],
  client_closed: [499, 'The client went away before the answer; nobody reads this.', 'Ask again, and wait for the answer.'],
  queue_full: [429, 'Too much work is waiting.', 'Retry after the time in Retry-After.'],
  rate_limit_exceeded: [429, 'A quota by the minute is used up; `exceeded` names it.', 'Retry after the time in Retry-After.'],
  quota_exceeded: [
    429,
    'A quota by the month is used up; `exceeded` names it and says when it resets.',
    'Wait until then, or have the quota raised.',
  ],
  provider_rate_limited: [429, 'The provider takes no more requests now.', 'Retry after the time in Retry-After.'],
  provider_rejected: [
    502,
    'The provider refuses the credential of this node; `provider_status` has its status.',
    'Have an administrator set a new key: `svc backend show`.',
  ],
  provider_unreachable: [502, 'The provider cannot be reached, or fails; `provider_status` has its status.', 'Retry later.'],
  provider_stream_cut: [
    502,
    'The provider ended the answer before it was whole, or said nothing for too long.',
    'Ask again: what came so far is not the whole answer.',
  ],
  model_not_ready: [
    503,
    'The model runs at a provider, and this node has no key for it or does not use it now.',
    'Have an administrator set the key: `svc backend list`.',
  ],
  node_lost: [
    503,
    'The node that has the model went away before the answer was whole, or no node that has it takes it now.',
    'Ask again: what came so far is not the whole answer.',
  ],
  internal: [500, 'A defect of the server.', 'Retry, then report it with the request id.'],
  cpu_lacks_avx2: [
    503,
    'The processor has no AVX2, so local models are unavailable on this node.',
    'Use another machine for local models; the rest of the server works.',
  ],
  cpu_lacks_arm_extensions: [
    503,
    'The processor lacks the ARMv8.2 dot-product extensions, so local models are unavailable on this node.',
    'Use another machine for local models; the rest of the server works.',
  ],
  model_invalid: [503, 'The model file cannot be loaded.', 'Run `svc models verify`.'],
  model_loading: [503, 'The model is being loaded.', 'Retry after the time in Retry-After.'],
  model_unloading: [503, 'The model is being unloaded.', 'Retry after the time in Retry-After.'],
  model_file_changed: [
    503,
    'A file of the model was changed while it was loaded.',
    'Retry: it is inspected and loaded again. Put a new file in by renaming it.',
  ],
  device_failed: [
    503,
    'A GPU failed, or is not used though `inference.gpu_required` is on.',
    'Retry: the model goes on by the CPU, unless `inference.gpu_required` forbids it. `svc doctor` has the reason.',
  ],
  models_busy: [503, 'Every loaded model is working and no memory is free for another.', 'Retry after the time in Retry-After.'],
  out_of_memory: [503, 'The model does not fit into memory.', 'Use a smaller one, a shorter context or a quantised KV cache.'],
  engine_unavailable: [503, 'The native engine is not there.', 'Run `svc doctor`.'],
  storage_unavailable: [
    503,
    'The database cannot be read or written now, so nothing was kept or could be metered.',
    'Retry after the time in Retry-After.',
  ],
  deadline_exceeded: [504, 'The request ran past X-Request-Timeout.', 'Ask for less, or give it more time.'],
});

export type InferenceErrorCode = CodeOf<typeof inferenceErrors>;
export type InferenceError = DomainError<InferenceErrorCode>;

export const isInferenceErrorCode = inferenceErrors.hasCode;

/** The refusals of answers that have begun: their routes' declarations answer no more. */
export const allInferenceErrors = inferenceErrors.specs(...inferenceErrors.codes);

/** Nobody reads it, so no route declares it. */
const unanswered: readonly InferenceErrorCode[] = ['client_closed'];
const ofCompletions: readonly InferenceErrorCode[] = [
  'invalid_grammar',
  'schema_not_supported',
  'grammar_too_complex',
  'invalid_media',
  'template_failed',
  'model_cannot_tool_call',
];
const ofTheLibrary: readonly InferenceErrorCode[] = [
  'model_source_not_found',
  'address_refused',
  'model_exists',
  'model_in_use',
  'model_read_only',
  'not_a_model',
  'checksum_mismatch',
  'no_space',
  'source_unreachable',
  'source_refused',
  'source_needs_permission',
  'job_not_found',
];
const special = new Set([...unanswered, ...ofTheLibrary]);
const answered = inferenceErrors.codes.filter((code) => !special.has(code));

/** The refusals of a route that completes a chat: a new code is one of them unless it says otherwise above. */
export const completionErrors = inferenceErrors.specs(...answered);

/** The refusals of any other route that runs a model. */
export const modelErrors = inferenceErrors.specs(...answered.filter((code) => !ofCompletions.includes(code)));

export const inferenceError = inferenceErrors.error;

/** A member of a request that cannot be taken. */
export function invalid(param: string, sentence: string): InferenceError {
  return inferenceError('invalid_request', sentence, { param });
}
