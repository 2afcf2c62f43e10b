/** /v1/files: files that are stored, and can be put into vector stores. */
import Type from 'typebox';
import { FormFile, formBody } from '../../../platform/http/body/body-schema.ts';
import { json, type Route, route } from '../../../platform/http/route.ts';
import { documentIdOf, type FileIntake, PURPOSES, unique, uploadErrorSpecs, uploaderOf } from '../../files/index.ts';
import { openaiErrorBody } from '../../inference/index.ts';
import { dataError, errorSpecs } from '../errors.ts';
import type { KnowledgeService } from '../service.ts';
import { storing } from '../storing.ts';
import type { FileService } from '../vector-stores/file-service.ts';
import { documentText } from './document-text.ts';
import { DeletedFile, FileShape, toFileShape } from './file-shape.ts';
import { readFileForm } from './form-file.ts';
import { listPage, listShape, pageMembers } from './list-page.ts';

/** The most that one request may have. */
const MAX_BODY_BYTES = 128 * 1024 * 1024;

export interface FileRouteDeps {
  readonly files: FileService;
  readonly intake: FileIntake;
  readonly knowledge: KnowledgeService;
}

const path = '/v1/files';
const params = Type.Object({ file_id: Type.String({ maxLength: 64 }) });
const common = { tag: 'Files', errorBody: openaiErrorBody } as const;
const reading = { ...common, auth: 'viewer', scope: 'knowledge:read', maxBody: 0 } as const;
const readErrors = errorSpecs('invalid_request', 'file_not_found', 'storage_unavailable');

export function fileRoutes(deps: FileRouteDeps): Route[] {
  return [createRoute(deps), listRoute(deps), getRoute(deps), contentRoute(deps), deleteRoute(deps)];
}

function createRoute({ intake }: FileRouteDeps): Route {
  return route({
    ...common,
    method: 'POST',
    path,
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
    responses: { 200: FileShape },
    errors: unique([
      ...errorSpecs('invalid_request', 'storage_unavailable'),
      ...uploadErrorSpecs('upload_quota_exceeded', 'too_many_uploads', 'disk_full'),
    ]),
    handle: ({ caller, body, headers }) =>
      storing(async () => {
        const uploader = uploaderOf(caller);
        let uploadId: string | undefined;
        try {
          const { file, ...rest } = await readFileForm(body, async (fileName, content) => {
            const arrived = await intake.receive(uploader, fileName, mostBytesOf(headers), content);
            uploadId = arrived.uploadId;
            return arrived;
          });
          return json(200, toFileShape(await intake.keep(uploader, file, { ...rest, credential: caller.keyId })));
        } catch (error) {
          if (uploadId !== undefined) await intake.discard(uploader, uploadId);
          throw error;
        }
      }),
  });
}

/** What a form may have is known from its length; one in chunks may have as much as any. */
function mostBytesOf(headers: ReadonlyMap<string, string>): number {
  const length = Number(headers.get('content-length'));
  return Number.isSafeInteger(length) && length > 0 ? Math.min(length, MAX_BODY_BYTES) : MAX_BODY_BYTES;
}

function listRoute({ files }: FileRouteDeps): Route {
  const { before: _, ...page } = pageMembers;
  return route({
    ...reading,
    method: 'GET',
    path,
    summary: 'List files',
    description: 'Those that the caller stored; for an administrator, those of the tenant.',
    query: Type.Object({
      ...page,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description: 'Default 10,000.' })),
      purpose: Type.Optional(Type.String({ maxLength: 64 })),
    }),
    responses: { 200: listShape(FileShape) },
    errors: readErrors,
    handle: ({ caller, query: { limit = 10_000, order = 'desc', after, purpose } }) =>
      storing(async () => {
        if (after !== undefined && documentIdOf(after) === undefined)
          throw dataError('invalid_request', 'after must be the id of a file.', { param: 'after' });
        const found = await files.list(caller, { limit: limit + 1, order, after, purpose });
        return json(200, listPage(found.map(toFileShape), limit));
      }),
  });
}

function getRoute({ files }: FileRouteDeps): Route {
  return route({
    ...reading,
    method: 'GET',
    path: `${path}/{file_id}`,
    summary: 'Get a file',
    params,
    responses: { 200: FileShape },
    errors: readErrors,
    handle: ({ caller, params: { file_id: id } }) => storing(async () => json(200, toFileShape(await files.get(caller, id)))),
  });
}

function contentRoute({ files, knowledge }: FileRouteDeps): Route {
  return route({
    ...reading,
    method: 'GET',
    path: `${path}/{file_id}/content`,
    summary: 'Get the bytes of a file',
    description: 'Of a document that was added as text, the text.',
    params,
    responses: { 200: Type.Unsafe<never>({ type: 'string', format: 'binary' }) },
    errors: [...readErrors, ...errorSpecs('file_elsewhere')],
    handle: ({ caller, params: { file_id: id } }) =>
      storing(async () => {
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
      }),
  });
}

function deleteRoute({ files }: FileRouteDeps): Route {
  return route({
    ...common,
    method: 'DELETE',
    path: `${path}/{file_id}`,
    auth: 'developer',
    scope: 'knowledge:write',
    maxBody: 0,
    summary: 'Delete a file, also from all vector stores',
    params,
    responses: { 200: DeletedFile },
    errors: readErrors,
    handle: ({ caller, params: { file_id: id } }) =>
      storing(async () => {
        await files.remove(caller, id);
        return json(200, { id, object: 'file', deleted: true });
      }),
  });
}
