/** Refusals of retrieval, each with the status that routes answer for it. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const retrievalErrors = defineErrors('retrieval', {
  embedding_dimension_mismatch: [
    409,
    'The knowledge base is bound to another embedding model.',
    'Leave `embedding_model` out, or use another knowledge base.',
  ],
  embedding_model_not_found: [404, 'No model of this name makes embeddings here.', '`svc models list` shows those that do.'],
  embedding_failed: [
    502,
    'The embedding model or service cannot be reached or refuses the text; the sentence says why.',
    'Retry, after correcting what the sentence names.',
  ],
  index_unavailable: [503, 'The index was lost and is being loaded again.', 'Retry after the time in Retry-After.'],
});

export const retrievalError = retrievalErrors.error;
