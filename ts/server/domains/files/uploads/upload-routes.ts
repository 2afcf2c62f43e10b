import type { TSchema } from 'typebox';
import Type from 'typebox';
import { RawBody } from '../../../platform/http/body/body-schema.ts';
import type { ErrorSpec } from '../../../platform/http/errors.ts';
import { json, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { fileErrors, uploadError } from '../errors.ts';
import { requireOwnTenant } from '../uploader.ts';
import type { ChunkedUploads } from './chunked-uploads.ts';
import { checkFile, checkHash } from './given-file.ts';
import { ChunkShape, FinalizeBody, InitBody, InitShape, MediaUploadShape, toInitShape } from './schemas.ts';
import { CHUNK_BYTES, type UploadService } from './upload-service.ts';

/** What the module that takes the files answers and refuses, when an upload begins and when it ends. */
export interface UploadAnswers {
  readonly errors: readonly ErrorSpec[];
  /** Bodies of the answers 201 and 202. */
  readonly created: TSchema;
  readonly accepted: TSchema;
}

interface UploadRoutesOptions {
  service: UploadService;
  chunked: ChunkedUploads;
  answers: UploadAnswers;
}

const { post, del } = routes({ tag: 'Uploads', auth: 'developer', scope: 'knowledge:write', errors: fileErrors });

export function uploadRoutes(options: UploadRoutesOptions): Route[] {
  return [initRoute(options), chunkRoute(options), finalizeRoute(options), cancelRoute(options)];
}

function initRoute({ service, chunked, answers }: UploadRoutesOptions): Route {
  return post('/api/v1/upload/init', {
    maxBody: 16_384,
    summary: 'Start an upload in chunks, or ask what has arrived',
    description:
      'With `upload_id` alone it answers 200 and tells which chunks are on disk, so that an upload goes on after a cut or a restart. The same ' +
      'description of a file with the same `sha256` goes on with the caller’s open upload of it, too.',
    body: InitBody,
    responses: { 200: InitShape, 201: InitShape },
    errors: [
      'invalid_request',
      'forbidden',
      'upload_not_found',
      'upload_too_large',
      'upload_quota_exceeded',
      'too_many_uploads',
      'disk_full',
      'storage_unavailable',
      'media_unavailable',
      ...answers.errors,
    ],
    handle: async ({ caller, body: { upload_id: id, tenant, ...given } }) => {
      requireOwnTenant(caller, tenant);
      const file = id === undefined ? checkFile('chunked', given) : undefined;
      const open = file === undefined ? id : (await chunked.findOpen(caller, file))?.id;
      if (file !== undefined && open === undefined) return json(201, toInitShape(await service.begin(caller, file), []));
      const { upload, received } = await chunked.status(caller, open ?? '');
      return json(200, toInitShape(upload, received));
    },
  });
}

function chunkRoute({ chunked }: UploadRoutesOptions): Route {
  return post('/api/v1/upload/chunk', {
    maxBody: CHUNK_BYTES,
    summary: 'Send a chunk',
    description:
      'The bytes alone, with `X-Upload-Id`, `X-Chunk-Index` (from 0) and optionally `X-Chunk-SHA256`. Chunks come in any order, several at a time. ' +
      'The answer says that the chunk is on disk. Sending it again changes nothing.',
    body: RawBody,
    bodyKind: 'bytes',
    responses: { 200: ChunkShape },
    errors: [
      'invalid_request',
      'chunk_size_mismatch',
      'upload_not_found',
      'upload_busy',
      'upload_finished',
      'chunk_conflict',
      'upload_elsewhere',
      'checksum_mismatch',
      'disk_full',
      'storage_unavailable',
    ],
    handle: async ({ caller, headers, body }) => {
      const id = headers.get('x-upload-id') ?? '';
      const chunk = {
        index: readIndex(headers.get('x-chunk-index')),
        sha256: checkHash('X-Chunk-SHA256', headers.get('x-chunk-sha256')),
        body,
      };
      const { index, sha256 } = await chunked.receive(caller, id, chunk);
      return json(200, { upload_id: id, index, sha256 });
    },
  });
}

function finalizeRoute({ chunked, answers }: UploadRoutesOptions): Route {
  return post('/api/v1/upload/finalize', {
    summary: 'Complete an upload and index its file',
    description:
      'The upload is named in the body or in `X-Upload-Id`. The file is verified and stored, and answered as text that is added: 201 with the document, ' +
      'or 202 with a job. With the purpose `media` it becomes a file of /v1/files, and nothing is indexed. Asked again, it answers the same until the upload expires.',
    body: FinalizeBody,
    bodyOptional: true,
    responses: { 201: Type.Union([answers.created, MediaUploadShape]), 202: answers.accepted },
    errors: [
      'invalid_media',
      'ffmpeg_missing',
      'media_unavailable',
      'invalid_request',
      'upload_not_found',
      'upload_incomplete',
      'upload_busy',
      'upload_elsewhere',
      'checksum_mismatch',
      'disk_full',
      'storage_unavailable',
      ...answers.errors,
    ],
    handle: async ({ caller, headers, body }) => {
      const id = body?.upload_id ?? headers.get('x-upload-id');
      if (id === undefined) throw uploadError('invalid_request', '`upload_id` is missing.');
      const { status, body: answer } = await chunked.finalize(caller, id);
      return json(status, answer);
    },
  });
}

function cancelRoute({ service }: UploadRoutesOptions): Route {
  return del('/api/v1/upload/{upload_id}', {
    summary: 'Cancel an upload in chunks',
    params: Type.Object({ upload_id: Type.String({ minLength: 1, maxLength: 100 }) }),
    responses: { 204: Type.Null() },
    errors: ['upload_not_found', 'storage_unavailable'],
    handle: async ({ caller, params }) => {
      await service.cancel(caller, params.upload_id, 'chunked');
      return { kind: 'bytes', status: 204, headers: {}, body: '' };
    },
  });
}

function readIndex(given: string | undefined): number {
  if (given !== undefined && /^\d{1,9}$/.test(given)) return Number(given);
  throw uploadError('invalid_request', 'X-Chunk-Index has to be the number of the chunk, from 0.');
}

/** Headers of uploads that pages of other origins may send and read. */
export const uploadCorsHeaders = {
  accepted: [
    'tus-resumable',
    'upload-length',
    'upload-offset',
    'upload-metadata',
    'upload-checksum',
    'x-upload-id',
    'x-chunk-index',
    'x-chunk-sha256',
  ],
  exposed: [
    'location',
    'tus-resumable',
    'tus-version',
    'tus-extension',
    'tus-max-size',
    'tus-checksum-algorithm',
    'upload-offset',
    'upload-length',
    'upload-metadata',
    'upload-expires',
  ],
};
