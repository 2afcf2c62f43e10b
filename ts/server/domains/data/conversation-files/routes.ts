import Type, { type Static } from 'typebox';
import { RawBody } from '../../../platform/http/body/body-schema.ts';
import { cleanFileName } from '../../../platform/http/body/file-name.ts';
import { json, type Reply, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { type BlobStore, extractionErrors, fileErrors, uploaderOf } from '../../files/index.ts';
import { featureErrors } from '../../license/index.ts';
import { knowledgeError, knowledgeErrors } from '../errors.ts';
import { Namespace } from '../ingest/ingest-body.ts';
import type { AddOutcome } from '../ingest/ingestion.ts';
import { fileRouteErrors, uploadAnswers } from '../routes/file-answers.ts';
import { readDocument } from '../routes/read-document.ts';
import { RecordingBytes, recordingReply } from '../routes/recording-reply.ts';
import { DocumentDetail, DocumentShape, Ingested, IngestQueued, TextQuery, toDocumentShape, toIngested } from '../schemas.ts';
import type { FilledBase, KnowledgeService } from '../service.ts';
import type { ConversationFiles } from './conversation-files.ts';

const PATH = '/api/v1/edge/conversations/files';
const MAX_BODY_BYTES = 128 * 1024 * 1024;

const GivenId = Type.String({ minLength: 1, maxLength: 200, description: 'Of the conversation.' });
const Selector = Type.Object({ id: GivenId });
const FileParams = Type.Object({ file_id: Type.String({ maxLength: 64 }) });
const AddQuery = Type.Object({
  id: GivenId,
  filename: Type.String({ minLength: 1, maxLength: 4096, description: 'Only the last part of a path is kept.' }),
});
/** The base of a conversation has no name that could be used elsewhere. */
const Added = Type.Omit(Ingested, ['namespace']);
const KeepBody = named('KeepFile', Type.Object({ id: GivenId, namespace: Namespace }, { additionalProperties: false }));

const readErrors = ['conversation_not_found', 'conversations_unavailable', 'storage_unavailable'] as const;
const addErrors = [
  ...extractionErrors.all,
  'invalid_request',
  'text_too_short',
  'namespace_not_found',
  'embedding_model_not_found',
  'embedding_failed',
  'embedding_dimension_mismatch',
  'queue_full',
  'index_unavailable',
  'conversation_file_quota_exceeded',
  'too_many_conversation_files',
  ...fileErrors.specs('upload_quota_exceeded', 'too_many_uploads', 'disk_full'),
  ...readErrors,
  ...featureErrors,
] as const;

const { get, post, del } = routes({ tag: 'Conversations', auth: 'viewer', scope: 'account:manage', errors: knowledgeErrors });

export function conversationFileRoutes(files: ConversationFiles, service: KnowledgeService, blobs: BlobStore): Route[] {
  return [
    listRoute(files),
    addRoute(files),
    readRoute(files, service),
    recordingRoute(files, blobs),
    removeRoute(files),
    keepRoute(files),
  ];
}

function listRoute(files: ConversationFiles): Route {
  return get(PATH, {
    summary: 'Files of a conversation',
    query: Selector,
    answer: Type.Object({ data: Type.Array(DocumentShape) }),
    errors: readErrors,
    handle: async ({ caller, query: { id } }) => ({ data: (await files.list(caller, id)).map(toDocumentShape) }),
  });
}

function addRoute(files: ConversationFiles): Route {
  return post(PATH, {
    maxBody: MAX_BODY_BYTES,
    bodyKind: 'bytes',
    summary: 'Add a file to a conversation',
    description:
      'The bytes alone are the body. The conversation’s owner alone finds, reads and deletes the file; chats with this `conversation_id` are answered from ' +
      'it, and it is erased with the conversation. A large file is read in the background (202).',
    query: AddQuery,
    body: RawBody,
    responses: { 201: Added, 202: IngestQueued },
    errors: addErrors,
    handle: async ({ caller, query: { id, filename }, headers, body }) => {
      const fileName = cleanFileName(filename);
      if (fileName === undefined)
        throw knowledgeError('invalid_request', 'Nothing of `filename` can be shown; give the file a name.', {
          param: 'filename',
        });
      const outcome = await files.add(caller, id, { fileName, mostBytes: mostBytesOf(headers), content: body });
      return answer(outcome, ({ namespace: _, ...made }) => made);
    },
  });
}

/** A body of a known length takes no more room than that while it comes. */
function mostBytesOf(headers: ReadonlyMap<string, string>): number {
  const length = Number(headers.get('content-length'));
  return Number.isSafeInteger(length) && length > 0 ? Math.min(length, MAX_BODY_BYTES) : MAX_BODY_BYTES;
}

function readRoute(files: ConversationFiles, service: KnowledgeService): Route {
  return get(`${PATH}/{file_id}`, {
    summary: 'A file of a conversation with its stored text, in which citations have their places',
    params: FileParams,
    query: Type.Object({ id: GivenId, ...TextQuery.properties }),
    answer: DocumentDetail,
    errors: [...readErrors, 'document_not_found'],
    handle: async ({ caller, params: { file_id: fileId }, query: { id, ...place } }) =>
      await readDocument(service, caller, await files.get(caller, id, fileId), place),
  });
}

function recordingRoute(files: ConversationFiles, blobs: BlobStore): Route {
  return get(`${PATH}/{file_id}/content`, {
    summary: 'Play a recording or film of a conversation; Range asks for a part',
    params: FileParams,
    query: Selector,
    responses: RecordingBytes,
    errors: [...readErrors, 'document_not_found', 'file_elsewhere'],
    handle: async ({ caller, params: { file_id: fileId }, query: { id } }) =>
      await recordingReply(blobs, uploaderOf(caller), await files.get(caller, id, fileId)),
  });
}

function removeRoute(files: ConversationFiles): Route {
  return del(`${PATH}/{file_id}`, {
    summary: 'Delete a file of a conversation: no answer that begins from now on has it',
    params: FileParams,
    query: Selector,
    answer: Type.Object({ id: Type.String(), deleted: Type.Boolean() }),
    errors: [...readErrors, 'document_not_found'],
    handle: async ({ caller, params: { file_id: fileId }, query: { id } }) => {
      await files.remove(caller, id, fileId);
      return { id: fileId, deleted: true };
    },
  });
}

function keepRoute(files: ConversationFiles): Route {
  return post(`${PATH}/{file_id}/keep`, {
    auth: 'developer',
    scope: 'knowledge:write',
    summary: 'Keep a file of a conversation in a knowledge base, where everybody of the tenant finds it',
    params: FileParams,
    body: KeepBody,
    responses: { 201: uploadAnswers.created, 202: uploadAnswers.accepted },
    errors: [...readErrors, ...fileRouteErrors, 'document_not_found', 'file_elsewhere', 'insufficient_scope'],
    handle: async ({ caller, params: { file_id: fileId }, body: { id, namespace } }) =>
      answer(await files.keep(caller, id, fileId, namespace), (made) => made),
  });
}

function answer(outcome: AddOutcome & Pick<FilledBase, 'note'>, shape: (made: Static<typeof Ingested>) => object): Reply {
  const noted = outcome.note === undefined ? {} : { note: outcome.note };
  if (!('jobId' in outcome)) return json(201, { ...shape(toIngested(outcome.document)), ...noted });
  return json(202, { job_id: outcome.jobId, ...noted }, { location: `/api/v1/system/jobs/${outcome.jobId}` });
}
