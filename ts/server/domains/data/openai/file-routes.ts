/** /v1/files. Source: OpenAI API reference, Files. */
import Type, { type Static } from 'typebox';
import { FormFile, formBody } from '../../../platform/http/body/body-schema.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { documentIdOf, type FileIntake, fileErrors, PURPOSES, uploaderOf } from '../../files/index.ts';
import { openaiErrorBody } from '../../inference/index.ts';
import { knowledgeError, knowledgeErrors } from '../errors.ts';
import type { KnowledgeService } from '../service.ts';
import type { FileService, ShownFile } from '../vector-stores/file-service.ts';
import { documentText } from './document-text.ts';
import { readFileForm } from './form-file.ts';
import { listPage, listShape, pageMembers, seconds } from './list-page.ts';

/** The most that one request may have. */
const MAX_BODY_BYTES = 128 * 1024 * 1024;

export interface FileRouteDeps {
  readonly files: FileService;
  readonly intake: FileIntake;
  readonly knowledge: KnowledgeService;
}

const path = '/v1/files';
const params = Type.Object({ file_id: Type.String({ maxLength: 64 }) });
const readErrors = ['invalid_request', 'file_not_found', 'storage_unavailable'] as const;

const FileShape = named(
  'StoredFile',
  Type.Object({
    id: Type.String(),
    object: Type.Literal('file'),
    bytes: Type.Integer(),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    expires_at: Type.Optional(Type.Integer({ description: 'Unix seconds; absent: it stays.' })),
    filename: Type.String(),
    purpose: Type.Enum([...PURPOSES]),
    status: Type.Literal('processed'),
  }),
);

const DeletedFile = named(
  'DeletedFile',
  Type.Object({ id: Type.String(), object: Type.Literal('file'), deleted: Type.Literal(true) }),
);

const { get, post, del } = routes({
  tag: 'Files',
  auth: 'viewer',
  scope: 'knowledge:read',
  errors: knowledgeErrors,
  errorBody: openaiErrorBody,
});

export function fileRoutes(deps: FileRouteDeps): Route[] {
  return [createRoute(deps), listRoute(deps), getRoute(deps), contentRoute(deps), deleteRoute(deps)];
}

function createRoute({ intake }: FileRouteDeps): Route {
  return post(path, {
    auth: 'developer',
    scope: 'knowledge:write',
    maxBody: MAX_BODY_BYTES,
    summary: 'Store a file',
    description:
      'A form with `file` and `purpose`, as OpenAI’s clients send it. Larger files go to a knowledge base by the chunked upload. It is indexed when it ' +
      'is put into a vector store.',
    bodyKind: 'multipart',
    body: formBody({
      file: FormFile,
      purpose: Type.Enum([...PURPOSES]),
      'expires_after[anchor]': Type.Optional(Type.Literal('created_at')),
      'expires_after[seconds]': Type.Optional(Type.Integer({ minimum: 3_600, maximum: 2_592_000 })),
    }),
    partLimits: { maxFiles: 1, maxFields: 16, maxFieldBytes: 1_024 },
    answer: FileShape,
    errors: [
      'invalid_request',
      'storage_unavailable',
      ...fileErrors.specs('upload_quota_exceeded', 'too_many_uploads', 'disk_full'),
    ],
    handle: async ({ caller, body, headers }) => {
      const uploader = uploaderOf(caller);
      let uploadId: string | undefined;
      try {
        const { file, ...rest } = await readFileForm(body, async (fileName, content) => {
          const arrived = await intake.receive(uploader, fileName, mostBytesOf(headers), content);
          uploadId = arrived.uploadId;
          return arrived;
        });
        return toFileShape(await intake.keep(uploader, file, { ...rest, credential: caller.keyId }));
      } catch (error) {
        if (uploadId !== undefined) await intake.discard(uploader, uploadId);
        throw error;
      }
    },
  });
}

/** What a form may have is known from its length; one in chunks may have as much as any. */
function mostBytesOf(headers: ReadonlyMap<string, string>): number {
  const length = Number(headers.get('content-length'));
  return Number.isSafeInteger(length) && length > 0 ? Math.min(length, MAX_BODY_BYTES) : MAX_BODY_BYTES;
}

function listRoute({ files }: FileRouteDeps): Route {
  const { before: _, ...page } = pageMembers;
  return get(path, {
    summary: 'List files',
    description: 'Those that the caller stored; for an administrator, those of the tenant.',
    query: Type.Object({
      ...page,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description: 'Default 10,000.' })),
      purpose: Type.Optional(Type.String({ maxLength: 64 })),
    }),
    answer: listShape(FileShape),
    errors: readErrors,
    handle: async ({ caller, query: { limit = 10_000, order = 'desc', after, purpose } }) => {
      if (after !== undefined && documentIdOf(after) === undefined)
        throw knowledgeError('invalid_request', 'after must be the id of a file.', { param: 'after' });
      const found = await files.list(caller, { limit: limit + 1, order, after, purpose });
      return listPage(found.map(toFileShape), limit);
    },
  });
}

function getRoute({ files }: FileRouteDeps): Route {
  return get(`${path}/{file_id}`, {
    summary: 'Get a file',
    params,
    answer: FileShape,
    errors: readErrors,
    handle: async ({ caller, params: { file_id: id } }) => toFileShape(await files.get(caller, id)),
  });
}

function contentRoute({ files, knowledge }: FileRouteDeps): Route {
  return get(`${path}/{file_id}/content`, {
    summary: 'Get the bytes of a file',
    description: 'Of a document that was added as text, the text.',
    params,
    responses: { 200: Type.Unsafe<never>({ type: 'string', format: 'binary' }) },
    errors: [...readErrors, 'file_elsewhere'],
    handle: async ({ caller, params: { file_id: id } }) => {
      const { file, path: found } = await files.open(caller, id);
      const headers = {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.fileName.toWellFormed())}`,
        'x-content-type-options': 'nosniff',
      };
      if (found !== undefined) return { kind: 'file', headers, file: found, etag: `"${file.sha256}"` };
      const { document } = await files.placeOf(caller, id);
      const body = documentText(knowledge, caller, document);
      return { kind: 'stream', status: 200, headers, body };
    },
  });
}

function deleteRoute({ files }: FileRouteDeps): Route {
  return del(`${path}/{file_id}`, {
    auth: 'developer',
    scope: 'knowledge:write',
    summary: 'Delete a file, also from all vector stores',
    params,
    answer: DeletedFile,
    errors: readErrors,
    handle: async ({ caller, params: { file_id: id } }) => {
      await files.remove(caller, id);
      return { id, object: 'file' as const, deleted: true as const };
    },
  });
}

function toFileShape({ id, sizeBytes, createdAt, expiresAt, fileName, purpose }: ShownFile): Static<typeof FileShape> {
  return {
    id,
    object: 'file',
    bytes: sizeBytes,
    created_at: seconds(createdAt),
    ...(expiresAt === undefined ? {} : { expires_at: seconds(expiresAt) }),
    filename: fileName,
    purpose,
    status: 'processed',
  };
}
