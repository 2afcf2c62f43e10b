/** Refusals of a model that another attempt may not meet: for work that nobody waits for at a connection. */
import { DomainError } from '../../platform/errors/domain-error.ts';

const PASSING: readonly string[] = [
  'queue_full',
  'rate_limit_exceeded',
  'provider_rate_limited',
  'model_loading',
  'model_unloading',
  'models_busy',
  'storage_unavailable',
  'embedding_failed',
  'index_unavailable',
  'knowledge_unavailable',
];

export function isPassing(error: unknown): error is DomainError {
  return error instanceof DomainError && PASSING.includes(error.code);
}
