/** What went wrong with an answer -> a refusal that its client can be told, in the answer where that has begun. */
import { DomainError } from '../../platform/errors/domain-error.ts';
import { httpError } from '../../platform/http/declared-error.ts';
import type { HttpError } from '../../platform/http/errors.ts';
import { allInferenceErrors, inferenceFailure } from '../inference/index.ts';
import { conversationErrors, createResponseErrors } from './declared-errors.ts';
import { type CompletionError, ownErrors } from './errors.ts';

const statuses = new Map(
  [...allInferenceErrors, ...createResponseErrors, ...conversationErrors, ...ownErrors.specs(...ownErrors.codes)].map(
    ({ code, status }) => [code, status],
  ),
);

export function isKnownCode(code: string): boolean {
  return statuses.has(code);
}

/** Unknown failures keep their text for the log alone. */
export function completionFailure(error: unknown): CompletionError {
  return error instanceof DomainError && isKnownCode(error.code) ? error : inferenceFailure(error);
}

/** For the frames of a stream that is open already: its route's declaration answers no more. */
export function httpErrorOf(error: CompletionError): HttpError {
  return httpError(error, statuses.get(error.code) ?? 500);
}
