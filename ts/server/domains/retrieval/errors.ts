/** Refusals of retrieval, each with the status that routes answer for it. */
import { DomainError, type DomainErrorOptions } from '../../platform/errors/domain-error.ts';

export const retrievalErrors = {
  embedding_dimension_mismatch: [
    409,
    'The knowledge base is bound to another embedding model; leave `embedding_model` out, or use another knowledge base.',
  ],
  embedding_model_not_found: [404, 'No model of this name makes embeddings here; `svc models list` shows those that do.'],
  embedding_failed: [502, 'The embedding model or service cannot be reached or refuses the text; the sentence says why. Retry.'],
  index_unavailable: [503, 'The index was lost and is being loaded again; retry after the time in Retry-After.'],
} satisfies Record<string, [status: number, meaning: string]>;

export type RetrievalErrorCode = keyof typeof retrievalErrors;

export function retrievalError(
  code: RetrievalErrorCode,
  sentence: string,
  options: DomainErrorOptions = {},
): DomainError<RetrievalErrorCode> {
  return new DomainError(code, sentence, options);
}
