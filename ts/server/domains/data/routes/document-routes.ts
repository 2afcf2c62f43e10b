/** Documents of a knowledge base: add, list, read, delete. */
import Type from 'typebox';
import { json, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import type { BlobStore } from '../../files/index.ts';
import { featureErrors } from '../../license/index.ts';
import { knowledgeError, knowledgeErrors } from '../errors.ts';
import { readsIngestBody } from '../ingest/reads-ingest-body.ts';
import type { KnowledgeAccess } from '../knowledge-access.ts';
import {
  BaseParams,
  DocumentDetail,
  DocumentList,
  DocumentParams,
  Ingested,
  IngestQueued,
  PageQuery,
  TextQuery,
  toDocumentShape,
  toIngested,
} from '../schemas.ts';
import type { KnowledgeService } from '../service.ts';
import { readDocument } from './read-document.ts';
import { RecordingBytes, recordingReply } from './recording-reply.ts';

const MAX_BODY_BYTES = 128 * 1024 * 1024;
const PAGE = 1_000;

const { get, post, del } = routes({
  tag: 'Knowledge bases',
  auth: 'developer',
  scope: 'knowledge:write',
  errors: knowledgeErrors,
});

export function documentRoutes(service: KnowledgeService, access: KnowledgeAccess, blobs: BlobStore): Route[] {
  return [
    ingestRoute(service, access),
    listRoute(service, access),
    readRoute(service, access),
    recordingRoute(service, access, blobs),
    removeRoute(service, access),
  ];
}

function ingestRoute(service: KnowledgeService, access: KnowledgeAccess): Route {
  return post('/api/v1/vector/ingest', {
    maxBody: MAX_BODY_BYTES,
    summary: 'Add a text to a knowledge base',
    description:
      'A document of the same `source` is replaced, at once and whole. The same text again changes nothing (200). A large text is indexed in the ' +
      'background (202): until the job is done, the document that it replaces answers. A knowledge base that is not there is made.',
    ...readsIngestBody,
    responses: { 200: Ingested, 201: Ingested, 202: IngestQueued },
    errors: [
      'invalid_request',
      'text_too_short',
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
      ...featureErrors,
    ],
    handle: async ({ caller, body, signal }) => {
      const { tenant, date, embedding_model: embeddingModel, ...given } = body;
      const added = {
        ...given,
        source: given.source.trim(),
        embeddingModel,
        owner: caller.subject,
        datedAt: readTime('date', date),
      };
      const scope = await access.scopeFor(caller, tenant, given.namespace);
      access.requireAdding();
      const outcome = await service.addText(scope, added, signal);
      const noted = outcome.note === undefined ? {} : { note: outcome.note };
      if ('jobId' in outcome)
        return json(202, { job_id: outcome.jobId, ...noted }, { location: `/api/v1/system/jobs/${outcome.jobId}` });
      return json(outcome.document.isNew ? 201 : 200, { ...toIngested(outcome.document), ...noted });
    },
  });
}

function listRoute(service: KnowledgeService, access: KnowledgeAccess): Route {
  return get('/api/v1/vector/namespaces/{tenant}/{namespace}/documents', {
    auth: 'viewer',
    scope: 'knowledge:read',
    summary: 'Documents of a knowledge base',
    params: BaseParams,
    query: PageQuery,
    answer: DocumentList,
    errors: ['invalid_request', 'forbidden', 'namespace_not_found', 'storage_unavailable'],
    handle: async ({ caller, params: { tenant, namespace }, query: { limit = PAGE, after } }) => {
      const page = await service.listDocuments(await access.scopeFor(caller, tenant, namespace), namespace, {
        limit: limit + 1,
        after,
      });
      const shown = page.slice(0, limit);
      const next = page.length > limit ? shown.at(-1)?.id : undefined;
      return { data: shown.map(toDocumentShape), ...(next === undefined ? {} : { next }) };
    },
  });
}

function readRoute(service: KnowledgeService, access: KnowledgeAccess): Route {
  return get('/api/v1/vector/documents/{tenant}/{namespace}/{id}', {
    auth: 'viewer',
    scope: 'knowledge:read',
    summary: 'A document with its stored text, in which citations have their places',
    params: DocumentParams,
    query: TextQuery,
    answer: DocumentDetail,
    errors: ['invalid_request', 'forbidden', 'namespace_not_found', 'document_not_found', 'storage_unavailable'],
    handle: async ({ caller, params: { tenant, namespace, id }, query }) => {
      const scope = await access.scopeFor(caller, tenant, namespace);
      return await readDocument(service, caller, await service.getDocument(scope, namespace, id), query);
    },
  });
}

function recordingRoute(service: KnowledgeService, access: KnowledgeAccess, blobs: BlobStore): Route {
  return get('/api/v1/vector/documents/{tenant}/{namespace}/{id}/content', {
    auth: 'viewer',
    scope: 'knowledge:read',
    summary: 'Play a recording or film that became a document; Range asks for a part',
    params: DocumentParams,
    responses: RecordingBytes,
    errors: ['forbidden', 'namespace_not_found', 'document_not_found', 'file_elsewhere', 'storage_unavailable'],
    handle: async ({ caller, params: { tenant, namespace, id } }) => {
      const scope = await access.scopeFor(caller, tenant, namespace);
      return await recordingReply(blobs, scope, await service.getDocument(scope, namespace, id));
    },
  });
}

function removeRoute(service: KnowledgeService, access: KnowledgeAccess): Route {
  return del('/api/v1/vector/documents/{tenant}/{namespace}/{id}', {
    summary: 'Delete a document: no answer that begins from now on has it',
    params: DocumentParams,
    answer: Type.Object({ id: Type.String(), deleted: Type.Boolean() }),
    errors: ['forbidden', 'namespace_not_found', 'document_not_found', 'storage_unavailable'],
    handle: async ({ caller, params: { tenant, namespace, id } }) => {
      await service.removeDocument(await access.scopeFor(caller, tenant, namespace), namespace, id);
      return { id, deleted: true };
    },
  });
}

/** RFC 3339 says more than JavaScript reads: a leap second is no date to it. */
export function readTime(param: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isFinite(time)) return time;
  throw knowledgeError('invalid_request', `${param} is no time that can be read; write it as 2026-01-31T12:00:00Z.`, { param });
}
