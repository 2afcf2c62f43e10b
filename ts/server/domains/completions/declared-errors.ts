/** What each kind of route can answer beside its answer, gathered from the modules that an answer goes through. */
import { storedAnswerErrors } from '../conversations/index.ts';
import { inputFileErrors, answerErrors as ofKnowledge } from '../data/index.ts';
import { completionErrors, inferenceErrors } from '../inference/index.ts';
import { featureErrors } from '../license/index.ts';
import { ownErrors } from './errors.ts';

/** What a chat over knowledge bases can answer beside `completionErrors`. */
export const knowledgeErrors = [
  ...ofKnowledge,
  ...featureErrors.filter(({ code }) => code === 'feature_not_licensed'),
  ...ownErrors.specs('insufficient_scope', 'knowledge_unavailable'),
];

/** What a chat that is stored in a conversation can answer beside that. */
export const conversationErrors = [
  ...storedAnswerErrors,
  ...ownErrors.specs('insufficient_scope', 'conversations_unavailable', 'stream_exists'),
];

/** What the routes of resumable streams can answer. */
export const streamErrors = [
  ...inferenceErrors.specs('invalid_request'),
  ...ownErrors.specs('stream_not_found', 'stream_events_gone'),
];

/** What a route that creates a stored response can answer. */
export const createResponseErrors = [
  ...completionErrors,
  ...ownErrors.specs('previous_response_not_found'),
  ...knowledgeErrors,
  ...inputFileErrors,
];

/** What the routes of stored responses can answer. */
export const storedResponseErrors = [
  ...inferenceErrors.specs('invalid_request', 'internal', 'storage_unavailable'),
  ...ownErrors.specs('response_not_found'),
];
