/** Turns what the model library threw into the module's own codes, with remedies for callers of the API. */
import { JobFailedError } from '../../../platform/jobs/index.ts';
import { type InferenceError, type InferenceErrorCode, inferenceError } from '../errors.ts';
import { LibraryError, type LibraryErrorCode } from '../library/index.ts';

const codes: Record<LibraryErrorCode, InferenceErrorCode> = {
  invalid_name: 'invalid_request',
  not_found: 'model_source_not_found',
  exists: 'model_exists',
  in_use: 'model_in_use',
  read_only: 'model_read_only',
  not_a_model: 'not_a_model',
  verification_failed: 'checksum_mismatch',
  no_space: 'no_space',
  unreachable: 'source_unreachable',
  refused_by_server: 'source_refused',
  permission_needed: 'source_needs_permission',
  unsafe_address: 'address_refused',
};

/** Remedies for callers, where the library's own speaks of the command line. */
const remedies: Partial<Record<LibraryErrorCode, string>> = {
  exists: 'pull it with "force": true to replace that file, or with another "name"',
  unreachable: 'check the network (or set models.mirror to a mirror) and pull again: it continues where it stopped',
  no_space: 'delete models, or move models_dir to a larger disk',
  permission_needed: 'accept the license on the model’s page, and start the server with HF_TOKEN set to a token of that account',
};

/** The refusal of a request; what is no LibraryError is passed on. */
export function libraryRefusal(error: unknown): unknown {
  if (!(error instanceof LibraryError)) return error;
  const { code, message, remedy } = error;
  return refusal(codes[code], `${message}; ${remedies[code] ?? remedy}.`, error);
}

function refusal(code: InferenceErrorCode, sentence: string, cause: unknown): InferenceError {
  return inferenceError(code, `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`, { cause });
}

/** The end of a job that no other attempt would change; what is no LibraryError is passed on, for another attempt. */
export function libraryJobFailure(error: unknown): unknown {
  if (!(error instanceof LibraryError)) return error;
  const { code, message, remedy } = error;
  return new JobFailedError(codes[code], message, remedies[code] ?? remedy, error);
}
