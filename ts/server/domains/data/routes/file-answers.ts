/** What the routes of uploads answer for the knowledge bases. */
import { extractionErrors } from '../../files/index.ts';
import { featureErrors } from '../../license/index.ts';
import { knowledgeErrors } from '../errors.ts';
import { Ingested, IngestQueued } from '../schemas.ts';

export const fileRouteErrors = [
  ...extractionErrors.all,
  ...knowledgeErrors.specs(
    'invalid_request',
    'forbidden',
    'namespace_not_found',
    'document_not_found',
    'embedding_model_not_found',
    'too_many_knowledge_bases',
    'embedding_dimension_mismatch',
    'embedding_failed',
    'queue_full',
    'index_unavailable',
    'storage_unavailable',
  ),
  ...featureErrors,
];

export const uploadAnswers = { errors: fileRouteErrors, created: Ingested, accepted: IngestQueued };
