/** Every refusal of the module, and what a client sees of it. */
import { type CodeOf, defineErrors } from '../../platform/errors/define-errors.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';

export const conversationErrors = defineErrors('conversations', {
  invalid_request: [
    400,
    'A member of the request is missing, of the wrong type or out of range; the sentence names it.',
    'Correct that member.',
  ],
  invalid_import: [
    400,
    'The file is no export that can be read; the sentence says where it differs.',
    'Export it again, from ChatGPT or Open WebUI.',
  ],
  conversation_not_found: [
    404,
    'The caller has no conversation with this id.',
    'List the conversations; it may have been erased.',
  ],
  message_not_found: [404, 'The conversation has no message with this id.', 'Read the conversation again.'],
  version_conflict: [
    409,
    'The conversation was changed by somebody else meanwhile.',
    'Read it again. `version` is the current one.',
  ],
  message_conflict: [409, 'A message with this id and other content is there already.', 'Use another id.'],
  conversation_full: [409, 'The conversation has as many messages as are kept.', 'Begin another.'],
  too_many_conversations: [409, 'The caller has as many conversations as are kept.', 'Delete some.'],
  conversation_quota_exceeded: [
    429,
    'The tenant’s conversations and artifacts would take more space than it has.',
    'Delete some.',
  ],
  share_not_found: [
    404,
    'Nothing is shared under this id in the tenant; it may have been taken back or erased.',
    'Ask for another link.',
  ],
  artifact_not_found: [404, 'The caller has no artifact with this id, or not this version of it.', 'List the artifacts.'],
  artifact_full: [409, 'The artifact has as many versions as are kept.', 'Save a new one.'],
  too_many_artifacts: [409, 'The caller has as many artifacts as are kept.', 'Delete some.'],
  prompt_not_found: [404, 'There is no prompt with this id.', 'List the prompts.'],
  too_many_prompts: [409, 'As many prompts as are kept are there already.', 'Delete some.'],
  storage_unavailable: [503, 'The database does not take the request now.', 'Retry.'],
});

type ConversationErrorCode = CodeOf<typeof conversationErrors>;

export type ConversationError = DomainError<ConversationErrorCode>;

export const conversationError = conversationErrors.error;
export const isConversationError = conversationErrors.has;

export function conversationNotFound(): ConversationError {
  return conversationError('conversation_not_found', 'You have no conversation with this id; it may have been deleted.');
}

export function messageNotFound(member: string): ConversationError {
  return conversationError('message_not_found', `\`${member}\` names no message of this conversation.`);
}

/** What an answer that is stored in a conversation can be refused with. */
export const storedAnswerErrors = conversationErrors.specs(
  'conversation_not_found',
  'conversation_full',
  'conversation_quota_exceeded',
  'message_not_found',
  'message_conflict',
  'storage_unavailable',
);
