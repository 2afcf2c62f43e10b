/** Every refusal of the module, with the status that its routes answer for it: the one table of both. */
import { type CodeOf, defineErrors } from '../../platform/errors/define-errors.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';
import { fileErrors } from '../files/index.ts';
import { retrievalErrors } from '../retrieval/index.ts';

export const knowledgeErrors = defineErrors('data', {
  ...retrievalErrors.rows,
  file_elsewhere: fileErrors.rows.file_elsewhere,
  queue_full: fileErrors.rows.queue_full,
  invalid_request: [400, 'A member is missing, of the wrong type or out of range; the sentence names it.', 'Correct it.'],
  unsupported_parameter: [400, 'A member asks for what is not done here; the sentence says what is.', 'Leave it out.'],
  text_too_short: [400, 'The text has fewer than 20 characters, which is too little to be found.', 'Send more.'],
  forbidden: [403, 'The request names another tenant than the caller’s own.', 'Name your own tenant.'],
  namespace_not_found: [404, 'The tenant has no knowledge base of this name.', 'List the knowledge bases: `svc kb list`.'],
  insufficient_scope: [403, 'The credential lacks the scope account:manage, which conversations need.', 'Use a key that has it.'],
  conversation_not_found: [
    404,
    'The caller has no conversation with this id.',
    'List the conversations; it may have been erased.',
  ],
  conversations_unavailable: [
    503,
    'The module conversations does not run on this node.',
    'Ask another, or switch the role edge on.',
  ],
  conversation_file_quota_exceeded: [
    413,
    'The files of the caller’s conversations take as many bytes as they may (data.account_conversation_bytes).',
    'Delete some, or ask an administrator for more.',
  ],
  too_many_conversation_files: [409, 'The conversation has as many files as it may have.', 'Delete some.'],
  document_not_found: [404, 'The knowledge base has no document with this id.', 'List the documents: `svc kb list NAMESPACE`.'],
  vector_store_not_found: [404, 'The caller has no vector store of this id.', 'List the vector stores.'],
  file_not_found: [404, 'The caller has no file of this id.', 'List the files, or upload it again.'],
  file_batch_not_found: [404, 'The vector store has no batch of this id.', 'List the files of the vector store.'],
  file_refused: [422, 'The file cannot be read; `reason` has the code.', 'Do what the sentence says.'],
  namespace_exists: [409, 'The tenant has a knowledge base of this name already.', 'Choose another name.'],
  too_many_knowledge_bases: [409, 'The tenant has as many knowledge bases, or vector stores, as it may have.', 'Remove some.'],
  client_closed: [499, 'The client went away before the answer; nobody reads this.', 'Ask again, and wait for the answer.'],
  storage_unavailable: [503, 'The database does not take the request now.', 'Retry after the time in Retry-After.'],
});

type KnowledgeErrorCode = CodeOf<typeof knowledgeErrors>;
type KnowledgeError = DomainError<KnowledgeErrorCode>;

export const knowledgeError = knowledgeErrors.error;

export const isKnowledgeError = knowledgeErrors.has;

export function namespaceNotFound(namespace: string): KnowledgeError {
  return knowledgeError('namespace_not_found', `You have no knowledge base named ${JSON.stringify(namespace.slice(0, 130))}.`);
}

export function conversationNotFound(): KnowledgeError {
  return knowledgeError('conversation_not_found', 'You have no conversation with this id; it may have been deleted.');
}

/** What an answer over knowledge bases can be refused with. */
export const answerErrors = knowledgeErrors.specs(
  'namespace_not_found',
  'embedding_failed',
  'embedding_dimension_mismatch',
  'index_unavailable',
  'storage_unavailable',
);

/** What a message with files can be refused with. */
export const inputFileErrors = knowledgeErrors.specs('file_not_found', 'file_elsewhere', 'file_refused');
