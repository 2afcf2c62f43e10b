/** The refusals of each kind of route, gathered from the modules that an answer goes through, and those of a failed answer. */

import { DomainError } from '../../platform/errors/domain-error.ts';
import { httpError } from '../../platform/http/declared-error.ts';
import type { HttpError } from '../../platform/http/errors.ts';
import { storedAnswerErrors } from '../conversations/index.ts';
import { inputFileErrors, answerErrors as ofKnowledge } from '../data/index.ts';
import { allInferenceErrors, completionErrors, inferenceErrors, inferenceFailure } from '../inference/index.ts';
import { featureErrors } from '../license/index.ts';
import { logsErrors } from '../logs/index.ts';
import { type CompletionError, ownErrors } from './errors.ts';

/** The refusals of a chat over knowledge bases beside `completionErrors`. */
export const knowledgeErrors = [
  ...ofKnowledge,
  ...featureErrors.filter(({ code }) => code === 'feature_not_licensed'),
  ...ownErrors.specs('insufficient_scope', 'knowledge_unavailable'),
];

/** The refusals of a chat that is stored in a conversation, in addition. */
export const conversationErrors = [
  ...storedAnswerErrors,
  ...ownErrors.specs('insufficient_scope', 'conversations_unavailable', 'stream_exists'),
];

/** The refusals of a chat that may call tools of the node, in addition. */
export const toolErrors = ownErrors.specs('insufficient_scope', 'tools_unavailable');

/** The refusal of a chat that asks for memories, in addition. */
export const memoryChatErrors = ownErrors.specs('insufficient_scope', 'memory_unavailable');

/** The refusals of a chat that asks for collected log lines, in addition. */
export const logChatErrors = logsErrors.specs('forbidden', 'rsyslog_not_configured', 'logs_unavailable');

/** The refusals of the routes of resumable streams. */
export const streamErrors = [
  ...inferenceErrors.specs('invalid_request'),
  ...ownErrors.specs('stream_not_found', 'stream_events_gone'),
];

/** The refusals of a route that creates a stored response. */
export const createResponseErrors = [
  ...completionErrors,
  ...ownErrors.specs('previous_response_not_found'),
  ...knowledgeErrors,
  ...inputFileErrors,
  ...toolErrors,
];

/** The refusals of the routes of stored responses. */
export const storedResponseErrors = [
  ...inferenceErrors.specs('invalid_request', 'internal', 'storage_unavailable'),
  ...ownErrors.specs('response_not_found'),
];

/** The status of each refusal that the client of a failed answer can be told, in the answer where that has begun. */
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

/** Makes the error of a stream's frame, when the stream is open already: its route's declaration answers no more. */
export function httpErrorOf(error: CompletionError): HttpError {
  return httpError(error, statuses.get(error.code) ?? 500);
}
