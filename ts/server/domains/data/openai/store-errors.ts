/** What the routes of vector stores refuse. */
import { featureErrors } from '../../license/index.ts';
import { knowledgeErrors } from '../errors.ts';

export const storeReadErrors = knowledgeErrors.specs('invalid_request', 'vector_store_not_found', 'storage_unavailable');

export const storeWriteErrors = [
  ...knowledgeErrors.specs(
    'invalid_request',
    'unsupported_parameter',
    'vector_store_not_found',
    'namespace_not_found',
    'file_not_found',
  ),
  ...knowledgeErrors.specs('embedding_model_not_found', 'too_many_knowledge_bases', 'storage_unavailable'),
  ...featureErrors,
];
